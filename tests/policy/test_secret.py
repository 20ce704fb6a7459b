"""Secrets are found in current formats, in disguise and across lines; honest text is left alone."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.policy import TEXT_RULES, Hit, find_secrets, judge
from extractord.policy.assigned import ASSIGNED
from extractord.policy.cases import memory, write
from extractord.policy.credentials import SHAPES
from extractord.policy.requests import VIRTUAL_ROOTS, Law
from extractord.policy.told import TOLD as TOLD_SHAPES
from extractord.policy.verdict import Deny

LAW = Law(roots=VIRTUAL_ROOTS)
CHANCE = random.Random(7)  # noqa: S311 - made up once, the same each time


def made(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(CHANCE.choice(alphabet) for _ in range(count))


HEX, UPPER = "0123456789abcdef", string.ascii_uppercase + string.digits
SECRETS = {
    "aws-access-key-id": "AKIA" + made(16, UPPER),
    "github-token": "ghp_" + made(36),
    "github-fine-grained-token": "github_pat_" + made(22) + "_" + made(59),
    "gitlab-token": "glpat-" + made(20),
    "anthropic-key": "sk-ant-api03-" + made(93) + "AA",
    "openai-key": "sk-proj-" + made(48),
    "openrouter-key": "sk-or-v1-" + made(64, HEX),
    "sk-key": "sk-" + made(48),
    "google-api-key": "AIza" + made(35),
    "google-oauth-token": "ya29." + made(60),
    "google-oauth-secret": "GOCSPX-" + made(28),
    "slack-token": "xoxb-" + made(12, "0123456789") + "-" + made(24),
    "slack-webhook": "hooks.slack.com/services/T" + made(8, UPPER) + "/B" + made(8, UPPER) + "/" + made(24),
    "discord-webhook": "discord.com/api/webhooks/" + made(18, "123456789") + "/" + made(68),
    "discord-bot-token": "M" + made(23) + "." + made(6) + "." + made(27),
    "stripe-key": "sk_live_" + made(24),
    "webhook-signing-secret": "whsec_" + made(32),
    "twilio-key": "SK" + made(32, HEX),
    "sendgrid-key": "SG." + made(22) + "." + made(43),
    "mailgun-key": "key-" + made(32, HEX),
    "mailchimp-key": made(32, HEX) + "-us12",
    "npm-token": "npm_" + made(36),
    "pypi-token": "pypi-AgEIcHlwaS5vcmc" + made(60),
    "rubygems-key": "rubygems_" + made(48, HEX),
    "crates-token": "cio" + made(32),
    "hugging-face-token": "hf_" + made(34),
    "databricks-token": "dapi" + made(32, HEX),
    "digitalocean-token": "dop_v1_" + made(64, HEX),
    "shopify-token": "shpat_" + made(32, HEX),
    "telegram-bot-token": made(10, "123456789") + ":AA" + made(33),
    "azure-client-secret": made(3) + "8Q~" + made(34),
    "json-web-token": "eyJ" + made(20) + ".eyJ" + made(40) + "." + made(43),
    "vault-token": "hvs." + made(90),
    "terraform-token": made(14) + ".atlasv1." + made(67),
    "doppler-token": "dp.pt." + made(43),
    "grafana-token": "glsa_" + made(32) + "_" + made(8, HEX),
    "sentry-token": "sntrys_" + made(80),
    "new-relic-key": "NRAK-" + made(27, UPPER),
    "postman-key": "PMAK-" + made(24, HEX) + "-" + made(34, HEX),
    "linear-key": "lin_api_" + made(40),
    "notion-token": "ntn_" + made(46),
    "supabase-key": "sbp_" + made(40, HEX),
    "figma-token": "figd_" + made(40),
    "airtable-token": "pat" + made(14) + "." + made(64, HEX),
    "dropbox-token": "sl." + made(140),
    "square-token": "sq0atp-" + made(22),
    "atlassian-token": "ATATT3" + made(180),
    "docker-token": "dckr_pat_" + made(27),
    "planetscale-token": "pscale_pw_" + made(43),
    "netlify-token": "nfp_" + made(40),
    "fly-token": "fm2_" + made(120),
    "heroku-key": "HRKU-" + made(60),
    "groq-key": "gsk_" + made(52),
    "xai-key": "xai-" + made(80),
    "perplexity-key": "pplx-" + made(48),
    "replicate-token": "r8_" + made(37),
    "nvidia-key": "nvapi-" + made(64),
    "langsmith-key": "lsv2_pt_" + made(32, HEX) + "_" + made(10, HEX),
    "facebook-token": "EAA" + made(120),
    "age-secret-key": "AGE-SECRET-KEY-1" + made(58, UPPER),
    "onepassword-token": "ops_eyJ" + made(200),
    "google-key": "AQ." + made(50),
    "elevenlabs-key": "sk_" + made(48, HEX),
    "hubspot-token": "pat-na1-" + "-".join(made(count, HEX) for count in (8, 4, 4, 4, 12)),
    "pulumi-token": "pul-" + made(40, HEX),
    "snyk-token": "snyk_uat." + made(8, HEX) + "." + made(80),
    "buildkite-token": "bkua_" + made(40, HEX),
    "sonar-token": "sqp_" + made(40, HEX),
    "langfuse-key": "sk-lf-" + "-".join(made(count, HEX) for count in (8, 4, 4, 4, 12)),
    "tavily-key": "tvly-dev-" + made(32),
    "firecrawl-key": "fc-" + made(32, HEX),
    "fireworks-key": "fw_" + made(23) + "7",
    "dynatrace-token": "dt0c01." + made(24, UPPER) + "." + made(64, UPPER),
    "tailscale-key": "tskey-auth-" + made(17) + "-" + made(32),
    "okta-token": "SSWS 00" + made(40),
    "resend-key": "re_" + made(8) + "_" + made(24),
    "brevo-key": "xkeysib-" + made(64, HEX) + "-" + made(16),
    "bedrock-key": "ABSK" + made(110) + "=",
    "azure-devops-token": made(76) + "AZDO" + made(4),
    "cloudflare-token": "cfut_" + made(48),
    "cloudflare-ca-key": "v1.0-" + made(24, HEX) + "-" + made(146, HEX),
    "circleci-token": "CCIPAT_" + made(22) + "_" + made(40, HEX),
    "pinecone-key": "pcsk_" + made(6) + "_" + made(63),
    "neon-key": "napi_" + made(64),
    "render-key": "rnd_" + made(32),
    "vercel-token": "vcp_" + made(56),
    "cerebras-key": "csk-" + made(48),
    "together-key": "tgp_v1_" + made(43),
    "posthog-key": "phx_" + made(43),
    "voyage-key": "pa-" + made(42) + "7",
    "jina-key": "jina_" + made(60),
    "zapier-webhook": "hooks.zapier.com/hooks/catch/123456/" + made(7),
    "teams-webhook": "acme.webhook.office.com/webhookb2/"
    f"{made(36)}@{made(36)}/IncomingWebhook/{made(32, HEX)}/{made(36)}",
}
TOLD = {
    "azure-storage-key": ("AccountKey=", made(86) + "==", ";"),
    "aws-secret-key": ("aws_secret_access_key = ", made(40), ""),
    "authorization": ("Authorization: Bearer ", "q7" + made(30), ""),
    "url-password": ("postgres://app:", "Tr0ub4dor", "@db.internal/x"),
    "npmrc-token": ("//registry.example/:_authToken=", "n7" + made(34), ""),
    "assigned-secret": ("DB_PASSWORD = '", "Tr0ub4dor", "'"),
    "assigned-password": ("Passwort: ", "open!sesame", ""),
    "told-password": ("the password for staging is ", "Tr0ub4dor", " now"),
    "told-login": ("the login of staging is admin / ", "Tr0ub4dor", " now"),
    "signed-url": ("https://x.example/c?sv=2024-11-04&sig=", made(43) + "%3D", ""),
    "command-password": ("curl -sS -u admin:", "Tr0ub4dor", " https://x.example"),
    "command-token": ("deploy --api-key ", "q7" + made(30), " --all"),
    "netrc-password": ("machine x.example login u password ", "Tr0ub4dor", ""),
    "cookie": ("Cookie: ", "theme=dark; session=q7" + made(50), ""),
    "seed-phrase": ("seed phrase: ", "abandon ability able about above absent " * 2 + "accident", "."),
    "ethereum-key": ("the private key of the deployer is ", "0x" + made(64, HEX), ""),
    "kubeconfig-key": ("client-key-data: ", made(198) + "==", ""),
    "docker-login": ('{"auth": "', "q7" + made(38) + "==", '"}'),
}
BLOCK = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join([made(64)] * 12) + "\n-----END RSA PRIVATE KEY-----"


def test_every_shape_has_an_example_here() -> None:
    assert {shape.rule for shape in SHAPES + ASSIGNED + TOLD_SHAPES} == {*SECRETS, *TOLD, "private-key"}
    assert len(SHAPES) >= 28


@pytest.mark.parametrize(("rule", "secret"), SECRETS.items(), ids=SECRETS)
def test_a_token_is_found_where_it_stands(rule: str, secret: str) -> None:
    text = f"It is `{secret}` since May."
    assert find_secrets(text) == (Hit(rule, 7, 7 + len(secret)),)


@pytest.mark.parametrize(("rule", "parts"), TOLD.items(), ids=TOLD)
def test_a_value_is_found_by_what_stands_before_it(rule: str, parts: tuple[str, str, str]) -> None:
    before, value, after = parts
    assert find_secrets(before + value + after) == (Hit(rule, len(before), len(before) + len(value)),)


NO_DIGIT = ["password: open!sesame", "passwd=Tr@ubador", "mot de passe : azerty!qwerty",
            "密码\uff1aopen!sesame", "password: correcthorsebatterystaple", "the passphrase is open#sesame",
            "пароль: открой!сезам"]  # fmt: skip
HONEST = ["password: required", "Password: stored in the vault", "password: bcrypt-hashed", "pwd: string",
          "The password is case-sensitive.", "password: $DB_PASSWORD!", "passwort: siehe Tresor!",
          "password: example!word", "The password is checked twice!",
          "our login is handled by Auth0 and Okta", "login is email / magic-link",
          "Credentials are in Vault and 1Password"]  # fmt: skip


@pytest.mark.parametrize("text", NO_DIGIT)
def test_a_password_without_a_digit_is_known_by_a_sign_or_its_length(text: str) -> None:
    assert [hit.rule.removeprefix("assigned-").removeprefix("told-") for hit in find_secrets(text)] == [
        "password"
    ]


@pytest.mark.parametrize("text", HONEST)
def test_words_about_a_password_are_none(text: str) -> None:
    assert find_secrets(text) == ()


TOLD_OTHERWISE = [
    ("mysql -uroot -p", "Tr0ub4dor", " shop"),
    ("login --password ", "Tr0ub4dor", ""),
    ("login --admin-pass '", "Tr0ub4dor", "'"),
    ("sshpass -p ", "Tr0ub4dor", " ssh x.example"),
    ("pw: ", "Tr0ub4dor", ""),
    ("DB_PASS=", "Tr0ub4dor", ""),
    ('{"pass": "', "Tr0ub4dor", '"}'),
    ("Das Passwort lautet ", "Tr0ub4dor", ""),
    ("Le mot de passe du serveur est ", "Tr0ub4dor", ""),
    ("La contrase\u00f1a es ", "Tr0ub4dor", ""),
    ("\u5bc6\u7801\u662f", "Tr0ub4dor", "\u3002"),
    ("\u30d1\u30b9\u30ef\u30fc\u30c9\u306f", "Tr0ub4dor", "\u3067\u3059"),
    ("\u30d1\u30b9\u30ef\u30fc\u30c9\u306f\u300c", "Tr0ub4dor", "\u300d\u3067\u3059"),
    ("Set-Cookie: ", "sid=q7" + made(40) + "; Path=/", "; HttpOnly"),
    ("deployer ", "0x" + made(64, HEX), " (private key)"),
    ("recovery phrase is\n", "\n".join(f"{n}. word" for n in range(1, 25)), ""),
]


@pytest.mark.parametrize(("before", "value", "after"), TOLD_OTHERWISE)
def test_a_secret_is_found_however_it_is_told(before: str, value: str, after: str) -> None:
    hits = [(hit.start, hit.end) for hit in find_secrets(before + value + after)]
    assert hits == [(len(before), len(before) + len(value))]


SPLIT: dict[str, Callable[[str], str]] = {
    "spelt out with spaces": " ".join,
    "spelt out with dashes": "-".join,
    "a space inside": lambda token: f"{token[:19]} {token[19:]}",
    "an empty line inside": lambda token: f"{token[:19]}\n\n{token[19:]}",
    "a break tag inside": lambda token: f"{token[:19]}<br>{token[19:]}",
    "an empty element inside": lambda token: f"{token[:19]}<b></b>{token[19:]}",
    "a comment inside": lambda token: f"{token[:19]}<!-- -->{token[19:]}",
    "over two items of a list": lambda token: f"- {token[:19]}\n- {token[19:]}",
    "over two numbered items": lambda token: f"1. {token[:19]}\n2. {token[19:]}",
    "a Cyrillic letter": lambda token: token.replace("ghp", "gh\u0440"),
    "a Greek letter": lambda token: token.replace("p_", "\u03c1_"),
}


@pytest.mark.parametrize("way", SPLIT)
def test_a_token_in_pieces_is_found_with_all_of_them(way: str) -> None:
    apart = SPLIT[way]("ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    hits = find_secrets(f"The note is\n{apart}\nand that is it")
    assert [hit.rule for hit in hits] == ["github-token"]
    assert hits[0].start <= 12 + apart.index("g")
    assert hits[0].end >= 12 + len(apart)


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn 1.3 and PyTorch 2.1 are what the models of the recommendation team are made with",
        "hf_ tokens have 34 characters, ghp_ tokens 36 of them, and fw_ tokens begin the same way",
        "- sk-\n- ghp_ and everything else that the scanner knows\n- SK is Slovakia, 32 regions",
        "a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z",
    ],
)
def test_words_beside_a_prefix_are_no_token_in_pieces(text: str) -> None:
    assert find_secrets(text) == ()


def test_what_stands_behind_a_whole_token_is_left_alone() -> None:
    token = SECRETS["github-token"]
    text = f"Cookie: theme=dark; session={token} and so on, until 2027"
    assert find_secrets(text) == (Hit("cookie", 8, 28 + len(token)),)


def test_a_word_drawn_at_random_is_a_secret_and_a_digest_is_none() -> None:
    drawn = "q8Zr" + "T3vLx0WbN7sKd2YhPf5GmJ9cRu4EaXo1iQ6tVw"
    assert find_secrets(f"id {drawn} x") == (Hit("random-token", 3, 3 + len(drawn)),)
    digest = "q8ZrT3vLx0WbN7sKd2YhPf5GmJ9cRu4EaXo1iQ6tVwS"
    assert find_secrets(f"SHA256:{digest} and sha256-{digest}= and h1:{digest}=") == ()


def test_a_key_block_is_found_with_all_of_its_lines() -> None:
    assert find_secrets(f"a\n{BLOCK}\nb") == (Hit("private-key", 2, 2 + len(BLOCK)),)


def test_a_key_block_without_an_end_is_found_by_its_beginning() -> None:
    assert find_secrets(BLOCK[:400])[0].rule == "private-key"


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\U000e0041", "\u0301", "\ufe0f", "\u115f"])
def test_an_invisible_character_or_mark_hides_no_token(hidden: str) -> None:
    secret = SECRETS["github-token"]
    disguised = hidden.join(secret)
    assert find_secrets(f"a {disguised} b") == (Hit("github-token", 2, 2 + len(disguised)),)


def test_full_width_and_mathematical_letters_hide_no_token() -> None:
    secret = SECRETS["npm-token"]
    wide = "".join(chr(ord(char) + 0xFEE0) for char in secret)
    bold = "".join(chr(0x1D41A + ord(char) - 97) if char.islower() else char for char in secret)
    assert find_secrets(f"a {wide}") == (Hit("npm-token", 2, 2 + len(wide)),)
    assert find_secrets(f"a {bold}") == (Hit("npm-token", 2, 2 + len(bold)),)


@pytest.mark.parametrize("wrap", ["\n", "\r\n", "  \n  ", "\\\n", "\n> "])
def test_a_line_break_hides_no_token(wrap: str) -> None:
    secret = SECRETS["anthropic-key"]
    wrapped = secret[:12] + wrap + secret[12:60] + wrap + secret[60:]
    assert find_secrets(f"a {wrapped} b") == (Hit("anthropic-key", 2, 2 + len(wrapped)),)


@pytest.mark.parametrize(
    "text",
    [
        "Set VITE_FIREBASE_API_KEY=$FIREBASE_KEY_2 in `.env.local`.",
        "api_key = os.environ['OPENAI_API_KEY_2']",
        "token: ${{ secrets.DEPLOY_TOKEN_V2 }}",
        "password: <your-password-1>",
        "PASSWORD=changeme123",
        "postgres://user:password@localhost:5432/app",
        "postgres://app:${DB_PASSWORD}@db/app",
        "max_tokens: 200000, token_limit=128_000",
        "The secret of clean code is naming.",
        "The password is rotated every 90 days.",
        "tokens: 1234567",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "https://example.org/a/very-long-path-with-many-words/and-2-numbers?key=value",
        "-----BEGIN PUBLIC KEY-----",
        "sk-learn, task-management and ghp_short are words",
        "secret_key_base = credentials.secret_key_base2(env)",
        "access_token=s3_web_identity_token",
        "cost_per_token: 0.0000025",
        "curl -u user:password https://x.example and curl -u $USER:$TOKEN2 https://x.example",
        "mysql -uroot -p shop, then mysqldump --port 3306",
        "Pass --token or --password; `--password` is 12 characters long, --token $DEPLOY_TOKEN_2",
        "compass: north-2026, tests pass: 128/128, bypass: route66x",
        "Cookie: theme=dark; lang=en-US2",
        "Das Passwort lautet anders als fr\u00fcher.",
        "\u5bc6\u7801\u662f\u6bcf90\u5929\u66f4\u6362\u7684\u3002",
        "The seed phrase is kept in the vault, and nobody but Anna and the auditors has ever read it.",
        "contract 0x3f786850e387550fdab836ed7e6dc881de23001b, block hash 0x" + "3f" * 32,
        "see docs/Architecture2/Decisions/HowWeChoseTheStoreIn2026Q3AndWhy",
    ],
)
def test_honest_text_is_left_alone(text: str) -> None:
    assert find_secrets(text) == ()


def test_the_answer_names_rule_and_line_and_never_the_value() -> None:
    secret = SECRETS["stripe-key"]
    case = write("notes.md", memory(f"one\ntwo {secret}"))
    verdict = judge(case.request, case.facts, LAW)
    assert isinstance(verdict, Deny)
    assert verdict.rule == "secret"
    assert "Line 8" in verdict.reason
    assert "stripe-key" in verdict.reason
    assert secret[8:] not in verdict.reason


@given(st.text(max_size=40), st.sampled_from(sorted(SECRETS)), st.text(max_size=40))
@settings(max_examples=150)
def test_a_hit_covers_its_token_whatever_stands_around(before: str, rule: str, after: str) -> None:
    text = f"{before} {SECRETS[rule]} {after}"
    at = len(before) + 1
    assert any(hit.start <= at and hit.end >= at + len(SECRETS[rule]) for hit in find_secrets(text))
    assert all(0 <= hit.start < hit.end <= len(text) for hit in find_secrets(text))


WORDS = sorted({word for shape in SHAPES + ASSIGNED + TOLD_SHAPES for word in shape.words})
PIECES = (
    *("-eyJ", "-eyJaaaaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "password is ", "password:", "://a:"),
    *(
        "\u0301",
        "\u0323\u0301",
        "\u00ad",
        "\u200d",
        "\uff21",
        "curl x",
        "ignore ",
        "<system ",
        "![",
        "&#106;",
    ),
    *("bearer ", "aws secret ", "key = a.", "a:b", "\U0001f468\u200d", "> ", "=", "M" + "a" * 24 + "."),
    *("---\n", "always ", " ", "\n", "eyJ", "a-", "g h ", "<b>", "<!--", "\n- ", "- ", "0 ", "aA1", "aA1/"),
    *("--password ", "--", "cookie: a=b;", "cookie:a=", "curl -u ", "mysql -", "login a ", "mnemonic: word "),
    *(
        "word ",
        "seed phrase:",
        "private key ",
        "0x" + "a" * 64,
        "sk-ant-",
        "sk-ant-aA1 ",
        "\u5bc6\u7801",
        "machine ",
    ),
)


@pytest.mark.parametrize("word", WORDS)
def test_no_text_of_64_kib_makes_a_shape_slow(word: str) -> None:
    text = (word * 65536)[:65536]
    before = time.process_time()
    find_secrets(text)
    assert time.process_time() - before < 3


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: ascii(piece)[:30])
def test_no_text_of_60_kib_makes_a_rule_slow(piece: str) -> None:
    case = write("a.md", memory((piece * 61440)[:61440]))
    before = time.process_time()
    for rule in TEXT_RULES:
        rule.opinion(case.question())
    assert time.process_time() - before < 5

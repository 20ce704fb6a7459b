"""The shapes of secrets: one row a format, with the literal words without which it cannot match."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """One format of secret. A pattern may name its secret part `value`; else all of it is."""

    rule: str
    words: tuple[str, ...]
    """One of them stands in every match."""
    pattern: re.Pattern[str]
    is_one_word: bool = True
    """It has no white space in it, so that it may be looked for across a line break."""
    any_case: bool = False
    """Words and pattern are lower case, and the text is read so."""
    spares: Callable[[str], bool] | None = None
    """True for a value that stands where a secret would be, but is none."""
    begins: bool = False
    """Every match begins with one of the words."""
    loose: re.Pattern[str] | None = None
    """For a token known by its beginning: the pattern, whatever stands before and after it."""
    until: str = ""
    """What ends the secret, where it is longer than its pattern."""


_BEFORE = "(?<![A-Za-z0-9_])"
_AFTER = re.compile(r"\(\?![^)]*\)$")
_UUID = "[0-9A-Za-z]{8}-(?:[0-9A-Za-z]{4}-){3}[0-9A-Za-z]{12}"


def _token(rule: str, words: str, pattern: str) -> Shape:
    """A token that begins with one of the words, and nothing wordlike right before it."""
    found = tuple(words.split())
    return Shape(
        rule, found, re.compile(_BEFORE + pattern), begins=True, loose=re.compile(_AFTER.sub("", pattern))
    )


def _marked(rule: str, word: str, first: str, pattern: str) -> Shape:
    """A token with the word somewhere in it, and nothing wordlike right before its first character.

    The character stands first in the pattern, so that the engine can skip to it.
    """
    return Shape(rule, (word,), re.compile(first + "(?<![A-Za-z0-9_].)" + pattern))


SHAPES = (
    _token("aws-access-key-id", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_(?:[A-Za-z0-9]{36,255}|[A-Za-z0-9]{1,64}_eyJ[A-Za-z0-9_.-]{20,2048})",
    ),
    _token("github-fine-grained-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{30,255}"),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-[A-Za-z0-9_.-]{20,300}",
    ),
    _token("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,300}"),
    _token(
        "openai-key",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,300}",
    ),
    _token("openrouter-key", "sk-or-", r"sk-or-(?:v\d-)?[A-Za-z0-9]{32,128}"),
    _token("sk-key", "sk-", r"sk-[A-Za-z0-9]{24,128}(?![A-Za-z0-9-])"),
    _token("google-api-key", "AIza", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _token("google-oauth-token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,2048}"),
    _token("google-oauth-secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _token(
        "slack-token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xoxc- xoxd- xapp-",
        r"(?:xox[abceoprsd][-.]|xapp-)[A-Za-z0-9%.-]{10,300}",
    ),
    _token(
        "slack-webhook",
        "hooks.slack.com hooks.slack-gov.com",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,200}",
    ),
    _marked(
        "discord-webhook",
        "/webhooks/",
        "d",
        r"iscord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{16,20}/[A-Za-z0-9_-]{60,80}",
    ),
    _marked(
        "discord-bot-token",
        ".",
        "[MNO]",
        r"[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])",
    ),
    _token("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    _token("webhook-signing-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,128}"),
    _token("twilio-key", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _token("mailgun-key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _marked("mailchimp-key", "-us", "[0-9a-f]", r"[0-9a-f]{31}-us\d{1,2}(?![A-Za-z0-9])"),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _token("pypi-token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,1000}"),
    _token("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _token("crates-token", "cio", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _token("hugging-face-token", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{30,64}(?![A-Za-z0-9])"),
    _token("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[0-9a-f]{64}"),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _marked("telegram-bot-token", ":AA", r"\d", r"\d{7,9}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
    _token("azure-storage-key", "AccountKey=", r"AccountKey=(?P<value>[A-Za-z0-9+/]{86}==)"),
    _marked(
        "azure-client-secret",
        "Q~",
        "[A-Za-z0-9_~.]",
        r"[A-Za-z0-9_~.]{2}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])",
    ),
    _token(
        "json-web-token",
        "eyJ",
        r"eyJ[A-Za-z0-9_-]{10,512}\.eyJ[A-Za-z0-9_-]{10,8192}\.[A-Za-z0-9_-]{16,2048}",
    ),
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,300}"),
    _marked("terraform-token", ".atlasv1.", "[A-Za-z0-9]", r"[A-Za-z0-9]{13}\.atlasv1\.[A-Za-z0-9_-]{60,80}"),
    _token("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,64}"),
    _token(
        "grafana-token",
        "glc_ glsa_ glsm_",
        r"(?:glc_[A-Za-z0-9+/=]{32,400}|gls[am]_[A-Za-z0-9]{32}_[0-9a-f]{8})",
    ),
    _token("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_-]{40,400}"),
    _token("new-relic-key", "NRAK- NRII- NRJS-", r"NR(?:AK|II|JS)-[A-Za-z0-9_-]{19,64}"),
    _token("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _token("notion-token", "ntn_ secret_", r"(?:ntn_|secret_)[A-Za-z0-9]{40,60}(?![A-Za-z0-9])"),
    _token("supabase-key", "sbp_ sb_secret_", r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,64})"),
    _token("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{40,64}"),
    _token("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _token("dropbox-token", "sl.", r"sl\.(?:u\.)?[A-Za-z0-9_-]{130,2048}"),
    _token("square-token", "sq0atp- sq0csp- sq0idp-", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,64}"),
    _token(
        "atlassian-token", "ATATT3 ATCTT3 ATBB", r"(?:AT[AC]TT3[A-Za-z0-9_=-]{50,300}|ATBB[A-Za-z0-9]{32})"
    ),
    _token("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_-]{20,64}"),
    _token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}"),
    _token("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,64}"),
    _token("fly-token", "fm1_ fm2_ fo1_", r"f[mo][12][ar]?_[A-Za-z0-9+/=_-]{40,2048}"),
    _token("heroku-key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{36,80}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,64}"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,100}"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37,40}(?![A-Za-z0-9])"),
    _token("nvidia-key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{60,80}"),
    _token("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _token("facebook-token", "EAA", r"EAA[A-Za-z0-9]{90,400}(?![A-Za-z0-9])"),
    _token("age-secret-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _token("onepassword-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=]{100,4096}"),
    _token("google-key", "AQ.", r"AQ\.[A-Za-z0-9_-]{36,100}(?![A-Za-z0-9_-])"),
    _token("elevenlabs-key", "sk_", r"sk_[0-9a-f]{48}(?![A-Za-z0-9])"),
    _token("hubspot-token", "pat-na pat-eu pat-ap", rf"pat-(?:na|eu|ap)\d-{_UUID}"),
    _token("pulumi-token", "pul-", r"pul-[0-9a-f]{40}(?![A-Za-z0-9])"),
    _token("snyk-token", "snyk_", r"snyk_[a-z]{3}\.[0-9a-f]{8}\.[A-Za-z0-9._-]{20,200}"),
    _token("buildkite-token", "bkua_ bkct_ bkpt_ bkaj_", r"bk(?:ua|ct|pt|aj)_[A-Za-z0-9]{32,64}"),
    _token("sonar-token", "sqp_ squ_ sqa_", r"sq[pua]_[0-9a-f]{40}"),
    _token("langfuse-key", "sk-lf-", rf"sk-lf-{_UUID}"),
    _token("tavily-key", "tvly-", r"tvly-(?:[a-z]{2,8}-)?[A-Za-z0-9_-]{20,64}"),
    _token("firecrawl-key", "fc-", r"fc-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("fireworks-key", "fw_", r"fw_(?=[A-Za-z]{0,32}\d)[A-Za-z0-9]{20,64}(?![A-Za-z0-9_])"),
    _token("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("tailscale-key", "tskey-", r"tskey-[a-z]{3,10}-[A-Za-z0-9]{6,40}-[A-Za-z0-9]{16,64}"),
    _token("okta-token", "SSWS ", r"SSWS {1,4}00[A-Za-z0-9_-]{36,44}"),
    _token("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,32}(?![A-Za-z0-9_])"),
    _token("brevo-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _token("bedrock-key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,200}={0,2}"),
    _marked("azure-devops-token", "AZDO", "[A-Za-z0-9]", r"[A-Za-z0-9]{75}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
    _token("cloudflare-token", "cfut_ cfat_ cfk_", r"cf(?:ut|at|k)_[A-Za-z0-9_-]{40,80}"),
    _token("cloudflare-ca-key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    _token("circleci-token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{16,32}_[0-9a-f]{40}"),
    _token("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,80}"),
    _token("neon-key", "napi_", r"napi_[A-Za-z0-9]{40,80}"),
    _token("render-key", "rnd_", r"rnd_[A-Za-z0-9]{28,40}(?![A-Za-z0-9_])"),
    _token("vercel-token", "vcp_ vck_ vci_ vca_ vcr_", r"vc[pkiar]_[A-Za-z0-9]{40,64}"),
    _token("cerebras-key", "csk-", r"csk-[A-Za-z0-9]{40,64}"),
    _token("together-key", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_-]{40,64}"),
    _token("posthog-key", "phx_", r"phx_[A-Za-z0-9]{40,64}"),
    _token("voyage-key", "pa-", r"pa-(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    _token("jina-key", "jina_", r"jina_[A-Za-z0-9_-]{50,80}"),
    _token(
        "zapier-webhook", "hooks.zapier.com", r"hooks\.zapier\.com/hooks/catch/\d{3,12}/[A-Za-z0-9]{5,32}"
    ),
    _marked(
        "teams-webhook",
        ".office.com/webhook",
        "[A-Za-z0-9]",
        r"[A-Za-z0-9-]{0,62}(?:\.webhook)?\.office\.com/webhook(?:b2)?/[A-Za-z0-9@-]{20,120}/[A-Za-z]{3,40}/"
        r"[A-Za-z0-9]{16,64}(?:/[A-Za-z0-9-]{1,80}){0,3}",
    ),
    Shape(
        "signed-url",
        ("sig=", "signature="),
        re.compile(r"(?:[?&;]sig|x-(?:amz|goog)-signature)=(?P<value>[a-z0-9%+/_-]{40,512}=?)"),
        any_case=True,
    ),
    Shape(
        "private-key",
        ("PRIVATE KEY", "PuTTY-User-Key"),
        re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:"),
        is_one_word=False,
        until="PRIVATE KEY",
    ),
)

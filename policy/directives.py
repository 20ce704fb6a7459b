"""Wording that instructs an agent, in the languages in which it is met most."""

from __future__ import annotations

import re

DIRECTIVES = tuple(
    re.compile(pattern)
    for pattern in (
        # English
        (
            r"\b(?:ignore|disregard|forget|override) (?:(?:all|any|the|of|my|your) ){0,3}"
            r"(?:previous|prior|earlier|above|preceding)\b"
        ),
        (
            r"\b(?:ignore|disregard|forget|override)\b[^.]{0,30}"
            r"\b(?:previous|prior|earlier|above|preceding|system|all other|your)\b[^.]{0,30}"
            r"\b(?:instructions?|prompts?|rules?|messages?|guidelines?|directions?)\b"
        ),
        (
            r"\b(?:from now on|henceforth|in (?:all |every )?future (?:sessions?|conversations?|chats?)"
            r"|at the start of (?:each|every) (?:session|conversation))\b[^.]{0,80}"
            r"\b(?:runs?|executes?|installs?|curl|wget|sends?|posts?|uploads?|fetch(?:es)?|downloads?|eval|trusts?"
            r"|obeys?)\b"
        ),
        (
            r"\b(?:pay no attention to|(?:do not|don't|never) (?:follow|obey|heed))\b[^.]{0,20}"
            r"\b(?:previous|prior|earlier|above|preceding|system)\b[^.]{0,20}"
            r"\b(?:instructions?|prompts?|messages?|guidelines?|directions?)\b"
        ),
        (
            r"\b(?:pay no attention to|(?:do not|don't|never) (?:follow|obey|heed)) (?:any |all |the )?"
            r"(?:instructions?|prompts?|rules?|guidelines?|directions?) (?:above|before|so far|you)\b"
        ),
        (
            r"\b(?:ignore|disregard|forget|override) (?:whatever|what|everything|anything|all)\b"
            r"(?: that)? (?:the )?(?:user|developer|operator|person|system)\b[^.]{0,20}"
            r"\b(?:said|says|told|asked|wrote)\b"
        ),
        r"\b(?:keep|hide|conceal) (?:this|it|that)(?: \w{1,20}){0,3} from the (?:user|person|human)\b",
        (
            r"\b(?:pre ?-?approved|approves|has approved|have approved|authori[sz]ed) (?:all|every|any)"
            r" (?:of the |your )?(?:tool calls?|tools?|commands?|actions?)\b"
            r"|\b(?:all|every|any) (?:tool calls?|commands?|actions?) (?:are|is|has been|have been)"
            r" (?:pre ?-?)?(?:approved|authori[sz]ed)\b"
        ),
        (
            r"\b(?:begin|start) (?:each|every|all) (?:new )?(?:sessions?|conversations?|chats?|tasks?)\b"
            r"[^.]{0,20}\b(?:running|executing|fetching|installing|downloading)\b"
        ),
        (
            r"\b(?:ignore|disregard|forget|override) (?:everything|anything|whatever|all)\b[^.]{0,30}"
            r"\b(?:above|before|previously|earlier|so far)\b"
        ),
        (
            r"\b(?:ignore|disregard|forget|override)\b[^.]{0,30}"
            r"\b(?:instructions?|prompts?|rules?|messages?|guidelines?|directions?)\b[^.;]{0,20}"
            r"\b(?:above|before|earlier|previously|so far|you (?:were|have been) (?:given|told)|you got)\b"
        ),
        (
            r"\b(?:whenever|every time|each time|as soon as|when) you (?:start|begin|open|wake|resume|load)\b"
            r"[^.]{0,60}\b(?:run|execute|install|fetch|send|download)\b"
        ),
        (
            r"\bapproval[ -]?(?:policy|mode)\b[^.]{0,20}\b(?:never|yolo|full[ -]auto|auto)\b"
            r"|\bdanger[ -]full[ -]access\b|--yolo\b|--full-auto\b|--dangerously[a-z-]{1,60}"
        ),
        (
            r"(?:^|[.!?;:-] )(?:(?!\b(?:never|not?|nothing|nobody|don't|cannot|can't|mustn't)\b)[^.]){0,80}?"
            r"\bwithout (?:asking|telling|informing|notifying|consulting)"
            r" the (?:user|person|human|operator|developer)\b"
        ),
        (
            r"\b(?:auto[- ]?(?:approve|accept|confirm)|yolo mode|dangerously[- ]skip[- ]permissions"
            r"|bypass ?permissions|skip(?:ping)? (?:all |the |any )?"
            r"(?:permissions?|confirmations?|approvals?)"
            r"|always\b[^.]{0,60}\bwithout (?:asking|confirmation|approval|permission)"
            r"|never ask (?:me |the user )?(?:before|for (?:confirmation|permission|approval)))\b"
        ),
        (
            r"\b(?:do not|don't|never) (?:tell|inform|alert|notify|(?:mention|show|reveal) (?:this |it )?to)"
            r" (?:the )?(?:user|person|human|operator|developer)\b"
        ),
        (
            r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^|]{0,300}\|[ ]?(?:sudo )?"
            r"(?:(?:ba|z|da|fi)?sh|python3?|perl|ruby|node|iex)\b|\bbase64 (?:-d|--decode)\b"
        ),
        (
            r"\b(?:send|post|upload|exfiltrate|forward|transmit|leak)\b[^.]{0,80}\b(?:to|at) (?:the )?"
            r"(?:url |address |endpoint )?<?(?:https?://|[\w.+-]{1,64}@[\w-]{1,64}\.)"
        ),
        r"\byou (?:are|must act as|will act as) (?:now|no longer) |\bnew (?:system )?instructions?:",
        r"\bremember\b[^.]{0,60}\bas (?:a |the )?(?:trusted|authoritative|most reliable)\b",
        # German
        (
            r"\b(?:ignorier|missacht|vergiss|vergesst)\w*\b[^.]{0,30}\b(?:vorherig|bisherig|fr[uü]her|obig|vorig)\w*"
            r"[^.]{0,30}\b(?:anweisung|instruktion|regel|vorgabe|nachricht|prompt)"
        ),
        (
            r"\b(?:ab sofort|von nun an|von jetzt an|k[uü]nftig)\b[^.]{0,60}"
            r"\b(?:f[uü]hre|ausf[uü]hr|installier|sende|schicke?|lade|vertraue?|gehorche?)"
        ),
        r"\bimmer\b[^.]{0,60}\bohne (?:zu fragen|nachfrage|r[uü]ckfrage|best[aä]tigung|erlaubnis)\b",
        (
            r"\b(?:sage?|verrate?|melde|teile?)\b[^.]{0,20}\b(?:dem (?:be)?nutzer|der nutzerin|dem user)\b"
            r"[^.]{0,30}\bnichts?\b"
        ),
        # French
        (
            r"\b(?:ignore[zr]?|oublie[zr]?)\b[^.]{0,40}\b(?:instructions?|consignes?|r[eè]gles?|messages?)\b"
            r"[^.]{0,20}(?:pr[eé]c[eé]dent|ant[eé]rieur|ci-dessus)"
        ),
        (
            r"\b(?:d[eé]sormais|dor[eé]navant|[aà] partir de maintenant)\b[^.]{0,60}"
            r"\b(?:ex[eé]cut|install|envoi|envoy|t[eé]l[eé]charg|lance|ob[eé]i)"
        ),
        r"\btoujours\b[^.]{0,60}\bsans (?:demander|confirmation|autorisation|permission)\b",
        r"\bne (?:le |la |rien )?(?:dis|dites|dire|montrez?)\b[^.]{0,20}[aà] (?:l'utilisateur|la personne)",
        # Spanish, Portuguese, Italian
        (
            r"\b(?:ignor[aeo]|olvid[ae]|esque[cç]|dimentica)\w*\b[^.]{0,40}"
            r"\b(?:instrucciones|instru[cç][oõ]es|istruzioni|[oó]rdenes|ordens|reglas|regras|regole)\b"
            r"[^.]{0,20}(?:anterior|previ|precedent)"
        ),
        (
            r"\b(?:a partir de ahora|de ahora en adelante|a partir de agora|d'ora in poi|da ora in poi)\b"
            r"[^.]{0,60}"
            r"\b(?:ejecut|instal|env[ií]|descarg|execut|baix|esegu|invia|scarica|obede)"
        ),
        (
            r"\b(?:siempre|sempre)\b[^.]{0,60}"
            r"\b(?:sin (?:preguntar|confirmaci[oó]n|permiso)|sem (?:perguntar|confirma[cç][aã]o|permiss[aã]o)"
            r"|senza (?:chiedere|conferma|permesso))"
        ),
        r"\bno (?:se lo |le )?(?:digas|cuentes|informes|muestres)\b[^.]{0,20}\bal usuario\b",
        # Russian
        (
            r"(?:игнорируй|забудь|не обращай внимания)[^.]{0,40}(?:предыдущ|прежн|прошл)[^.]{0,30}"
            r"(?:инструкци|указани|правил|сообщени)"
        ),
        # Chinese
        (
            r"(?:忽略|无视|無視|忘记|忘掉)[^。]{0,12}(?:之前|以前|先前|上述|以上|前面)"
            r"[^。]{0,10}(?:指令|指示|说明|規則|规则|提示|命令)"
        ),
        r"(?:从现在(?:开始|起)|從現在(?:開始|起)|今后|以后)[^。]{0,20}(?:执行|运行|安装|发送|上传|下载|執行|安裝)",
        r"(?:不要|别|切勿)(?:告诉|通知|告知)(?:用户|使用者)|(?:无需|不用|不要)(?:询问|征求|确认)(?:用户|即可|就)",
        # Korean
        (
            r"(?:이전|앞선|앞의|위의|위에|지금까지|기존|모든)[^.]{0,12}(?:지시|명령|규칙|프롬프트|지침)"
            r"[^.]{0,12}(?:무시|잊)"
        ),
        r"(?:앞으로|지금부터|이제부터)[^.]{0,30}(?:실행|설치|전송|업로드|다운로드)",
        (
            r"사용자에게[^.]{0,16}(?:말하지|알리지|묻지)"
            r"|(?:확인|허락|승인)[^.]{0,4} ?없이[^.]{0,16}(?:실행|승인)"
        ),
        # Japanese
        (
            r"(?:これまで|今まで|以前|上記|前)の[^。]{0,12}(?:指示|命令|ルール|プロンプト|指令)"
            r"[^。]{0,10}(?:無視|忘れ)"
        ),
        r"(?:今後|これから)[^。]{0,30}(?:実行|インストール|送信|アップロード|ダウンロード)(?:し|する)",
        r"ユーザーに[はも]?[^。]{0,12}(?:言わない|知らせない|教えない|伝えない|言うな|伝えるな)|確認(?:せずに|なしで)[^。]{0,12}(?:実行|承認)",
    )
)
"""Read on lower-case text with one space between words."""


def find_directive(text: str) -> str | None:
    """Given lower-case text with one space between words, return the first stretch that instructs."""
    for directive in DIRECTIVES:
        found = directive.search(text)
        if found:
            return found[0]
    return None

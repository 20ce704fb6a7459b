"""Words that say nothing about what a fact is about, folded, in the languages that we know."""

from __future__ import annotations

from extractord.core.folding import fold

_ENGLISH = """
a about above after again against all also always am an and any are as at be because been before being
below between both but by can cannot could did do does doing done don down during each either else ever
every few for from further get gets got had has have having he her here hers him his how i if in into is
isn it its itself just let like made make makes may me might more most much must my neither never no nor
not now of off on once one only onto or other our ours out over own per please rather re same s shall she
should since so some such t than that the their theirs them then there these they this those though
through to too under unless until up upon us use used user users uses using very via want wants was way
we were what when where whether which while who whom whose why will with within without would yes yet you
your yours ll ve apply
"""
_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist
da damit dann das dass dein deine dem den denn der des dessen die dies diese diesem diesen dieser dieses
doch dort du durch ein eine einem einen einer eines er es etwas euch euer fur gegen hab habe haben hat
hatte hier hinter ich ihm ihn ihnen ihr ihre im immer in indem ins ist ja jede jedem jeden jeder jedes
kann kein keine keinen keiner konnen man mehr mein meine mit muss mussen nach nicht nichts nie niemals
noch nun nur ob oder ohne sehr sein seine sich sie sind so soll sollen sollte sondern sonst uber um und
uns unser unter vom von vor wahrend war waren was weg weil weiter welche wenn wer werde werden wie wieder
will wir wird wo wollen wurde zu zum zur zwischen warum anwendung anwenden bitte
"""
_FRENCH = """
a afin ai alors apres au aucun aussi autre aux avant avec avoir bien c ce cela celle ces cet cette ceux
chaque ci comme comment d dans de des deux donc dont du elle elles en encore entre es est et etait ete
etre eux fait faire faut il ils j je jamais l la le les leur leurs lors lui m ma mais me meme mes moi
moins mon n ne ni non nos notre nous on ou par parce pas pendant peu peut plus pour pourquoi qu quand que
quel quelle qui quoi rien s sa sans se ses si sinon soit son sont sous sur ta tes toi ton toujours tous
tout toute toutes tres tu un une va vers vos votre vous y appliquer
"""
_SPANISH = """
a al algo alguna alguno ante antes asi aun aunque bajo bien cada como con contra cual cuando de del desde
donde durante e el ella ellas ellos en entre era es esa ese eso esta estan estar estas este esto estos
fue ha hace hacer hacia han hasta hay la las le les lo los mas me mi mis mucho muy nada ni no nos
nosotros nuestra nuestro nunca o os otra otro para pero poco por porque que quien se sea segun ser si
siempre sin sino sobre solo son su sus tambien tan te tiene todo todos tu tus un una uno unos usar y ya
yo aplicar
"""
_ITALIAN_PORTUGUESE = """
ai alla alle anche ao aos che chi come con cui da dai dal dalla das degli dei del della delle di do dos e
ed em essere foi gli ha hanno i il isso isto la le lo mai mas mais nao ne nei nel nella nelle no nos o os
para pela pelo per perche piu quando que questa questo sao se sempre sem ser si sono sua suo sul sulla
tra tutti tutto um uma un una
"""

STOP_WORDS = frozenset(fold(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_ITALIAN_PORTUGUESE}").split())
"""Function words and a template's field labels."""

_PAIRS = """
这个 那个 一个 我们 你们 他们 可以 不要 不能 应该 需要 因为 所以 如果 没有 就是 使用 必须 什么 怎么 为什
この その あの これ それ です ます する した して ない から ので こと もの ため とき よう たち
理由 適用 用方 方法 原因 如何 应用
"""
_STOP_PAIRS = frozenset(_PAIRS.split())


def is_stop_pair(pair: str) -> bool:
    """True for two characters of an unspaced script that carry no content: particles, endings."""
    return pair in _STOP_PAIRS or all("\u3040" <= character <= "\u309f" for character in pair)

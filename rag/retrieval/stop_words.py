"""The words of questions, which code does not mean."""

from __future__ import annotations

from collections.abc import Iterable

_OF_QUESTIONS = """
a about all am an and any are as at be been being but by can could did do does doing done each every explain find for from get gets
got had has have having he her here his how i if in into is it its may me might must my no not of on onto or our please shall she
should show so some tell than that the their them then there these they this those to us use used uses using via was we were what
when where which who whom whose why will with within without work works would you your
"""
STOP_WORDS = frozenset(_OF_QUESTIONS.split())
"""Words of questions, not of code: where one alone is asked for, it counts."""

_IN_OTHER_LANGUAGES = """
aber alle als auch auf aus bei bin bitte bist das dass dem den der des die dir doch du durch eigentlich ein eine einem einen einer
eines er es etwas euch für funktioniert gerne gibt haben hallo hat hier ich ihr im implementiert in irgendwo ist ja jemand kann
kannst kein keine können könnt kurze frage frag fragen man mich mir mit muss nach nicht noch nur oder schon sein sich sie sind so
und uns vom von vor war warum was weiß weiss welche welchem welchen welcher welches wenn wer werden wie wieso wir wird wissen wo
wofür woher wurde wurden zu zum zur zusammen über danke dankeschön finde finden macht mal wohl genau guten morgen tag abend au aux
avec bonjour bonsoir ce cela ces cet cette chez comme comment dans de des donc du elle elles en est et être fait font gère il ils je
la là le les leur leurs lui mais merci mon nous on ou où par pas peut peux pour pourquoi qu quand que quel quelle quelles quels qui
quelqu quelque quelques sa salut sait sans se sert ses si son sont sur se tous tout toute trouve trouver un une utilise vers votre
vous avance beaucoup rapide svp plaît al algo alguien alguna alguno aquí cómo como con cuál cuáles cuándo de del desde dónde donde
el ella ellos en entre es esa ese eso esta está están este esto gracias hace hacia hasta hay hola la las lo los más me mi muchas muy
no nos nosotros o para pero por porque porqué pregunta puede pueden puedo qué que quién quien rápida rápido saber sabe se sin sobre
su sus también tiene tienen todo todos un una unas uno unos usa y ya buenas buenos código
"""
FOREIGN_WORDS = frozenset(_IN_OTHER_LANGUAGES.split()) - STOP_WORDS
"""The same of German, French and Spanish. Some mean something else in English and in code: they say nothing where several stand."""
_AS_IN_ENGLISH = """
al algo alle als auf bin comme con de del dem den der des die du ein el en er es est este et fait hat hay il im ja je la las le les
lo los man me mi mir mit mon no o on ou par pas para peut por pour qui sa sans se ses si sin so son su sur tag todo tout un und une
vers war was wo y ya au ce sobre mais mal wohl
"""
_TELLING = FOREIGN_WORDS - frozenset(_AS_IN_ENGLISH.split())  # of no other language, nor of code


def of_other_languages(words: Iterable[str]) -> bool:
    """Whether words, in lower case, are those of a question in German, French or Spanish: two of theirs, one of which is no English."""
    said = FOREIGN_WORDS.intersection(words)
    return len(said) > 1 and not _TELLING.isdisjoint(said)

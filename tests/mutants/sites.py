"""Where a C file can be changed by a small fault, and how. It relies on the layout that clang-format keeps: a function's
braces stand alone in column 0, binary operators have a space on each side."""
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*|(?<![^\n])[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>(?:u8|[uUL])?"(?:[^"\\]|\\.)*"|(?:[uUL])?'(?:[^'\\]|\\.)*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]\\@$`])
""", re.X | re.S)

OTHER = {"<": ["<=", ">", ">="], "<=": ["<", ">"], ">": [">=", "<"], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
         "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"],
         "^": ["|"], "&&": ["||"], "||": ["&&"], "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="], "*=": ["/="],
         "/=": ["*="], "<<=": [">>="], ">>=": ["<<="], "++": ["--"], "--": ["++"]}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
CONTROL = {"if", "while", "for", "switch"}
ENDS = {",", ";", "?", ":", "return", "else", "do", "case", "goto"}
PAIRS = {")": "(", "]": "[", "}": "{"}
# Changes of calls of these that nobody could see: arguments whose order does not matter (of those that compare, where only
# equality is asked), and more memory than is needed.
ANY_ORDER = {"fmin", "fmax", "sum_capped", "runs_apart"}
EQUALITY = {"strcmp", "memcmp", "strcasecmp"}
EQUAL_ONLY = {("<", "<="), ("<=", "<"), (">", ">="), (">=", ">")}  # what differs where both sides are equal
MEMORY = re.compile(r"\w*([mcz]alloc|memory_calloc|memory_malloc|memory_array)$")


class Site:
    """A change of text[start:end] on one line; `code` has {n} where the mutant's number belongs."""

    def __init__(self, kind, start, end, code, at, old, new):
        self.kind, self.start, self.end, self.code = kind, start, end, code
        self.at, self.old, self.new = at, old, new  # what changes, for people
        self.path = self.line = self.before = self.after = self.number = None


class Body:
    """The tokens of one function."""

    def __init__(self, text, start, end):
        self.text, self.tokens, self.partner = text, [], {}
        at = start
        while at < end:
            found = TOKEN.match(text, at, end)
            if not found:
                raise ValueError(f"offset {at}: {text[at:at + 20]!r}")
            if found.lastgroup != "skip":
                self.tokens.append((found.lastgroup, found.group(), at, found.end()))
            at = found.end()
        stack = []
        for i, (_, sign, _, _) in enumerate(self.tokens):
            if sign in "([{" and sign:
                stack.append(i)
            elif sign in PAIRS and stack and self.sign(stack[-1]) == PAIRS[sign]:
                self.partner[i] = stack.pop()
                self.partner[self.partner[i]] = i

    def sign(self, i):
        return self.tokens[i][1] if 0 <= i < len(self.tokens) else ""

    def spaced(self, i):
        """A binary operator, as the layout goes."""
        _, _, start, end = self.tokens[i]
        return self.text[start - 1].isspace() and self.text[end].isspace()

    def first(self, i, ends):
        """The first token of the expression around token i."""
        j = i - 1
        while j >= 0:
            sign = self.sign(j)
            if sign in (")", "]"):
                if j not in self.partner or self.sign(self.partner[j] - 1) in CONTROL:
                    break
                j = self.partner[j]
            elif sign == "}" and self.sign(self.partner.get(j, 0) - 1) == ")":
                j = self.partner[j]  # (type){...}
            elif sign in ("(", "[", "{", "}") or sign in ends:
                break
            j -= 1
        return j + 1

    def last(self, i, ends):
        j = i + 1
        while j < len(self.tokens):
            sign = self.sign(j)
            if sign in ("(", "[") or (sign == "{" and self.sign(j - 1) == ")"):
                j = self.partner.get(j, len(self.tokens))
            elif sign in (")", "]", "{", "}") or sign in ends:
                break
            j += 1
        return j - 1

    def span(self, first, last):
        return self.tokens[first][2], self.tokens[last][3]

    def written(self, first, last, changes):
        """The tokens on one line, some of them changed."""
        out, before = [], None
        for i in range(first, last + 1):
            _, sign, start, end = self.tokens[i]
            if before is not None and start > before:
                out.append(" ")
            out.append(changes.get(i, sign))
            before = end
        return "".join(out)

    def either(self, kind, at, new, first, last):
        """Token `at` becomes `new` within the expression first..last."""
        start, end = self.span(first, last)
        code = f"(NETPROF_MUTANT({{n}}) ? ({self.brace(self.written(first, last, {at: new}))}) : " \
               f"({self.brace(self.text[start:end])}))"
        return Site(kind, start, end, code, self.tokens[at][2], self.sign(at), new)

    @staticmethod
    def brace(code):
        return code.replace("{", "{{").replace("}", "}}")

    def operators(self):
        for i, (group, sign, _, _) in enumerate(self.tokens):
            if group != "sign" or sign not in OTHER:
                continue
            if sign not in ("++", "--") and not self.spaced(i):
                continue
            ends = set(ENDS)
            if sign not in ASSIGNMENTS:
                ends |= ASSIGNMENTS
            if sign not in ASSIGNMENTS and sign not in ("&&", "||"):
                ends |= {"&&", "||"}
            kind = "comparison" if sign in COMPARISONS else "operator"
            first, last = self.first(i, ends), self.last(i, ends)
            if first <= i <= last:
                for new in OTHER[sign]:
                    if (sign, new) not in EQUAL_ONLY or not self.takes_either(first, i, last):
                        yield self.either(kind, i, new, first, last)

    def takes_either(self, first, i, last):
        """The smaller or larger of two things is taken, as in "a < b ? a : b" and "if (a < b) a = b;": of equals either is."""
        one, two = self.written(first, i - 1, {}), self.written(i + 1, last, {})
        if self.sign(last + 1) == "?" and self.sign(first - 1) not in ("&&", "||"):
            colon = self.last(last + 1, {":"}) + 1
            end = self.last(colon, {",", ";", ":"})
            return {self.written(last + 2, colon - 1, {}), self.written(colon + 1, end, {})} == {one, two}
        if self.sign(first - 1) == "(" and self.sign(first - 2) == "if" and self.partner.get(first - 1) == last + 1:
            then = self.written(last + 2, self.last(last + 1, {";"}), {})
            return then in (f"{one} = {two}", f"{two} = {one}")
        return False

    def constants(self):
        for i, (group, sign, _, _) in enumerate(self.tokens):
            if group == "number":
                found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", sign)
                if self.sign(i - 1) == "[" and self.sign(i + 1) == "]" and self.declared(i - 1):
                    continue  # the size of an array
                if found:
                    value = int(found.group(1), 0) if not re.fullmatch(r"0\d+", found.group(1)) else int(found.group(1), 8)
                    for new in ({value + 1, value - 1} if value else {1}):
                        yield self.either("constant", i, f"{new}{found.group(2)}", i, i)
                elif re.fullmatch(r"\d*\.?\d+(e[+-]?\d+)?", sign):
                    yield self.either("constant", i, f"{float(sign) * 2 if float(sign) else 1.0!r}", i, i)
            elif sign in ("true", "false"):
                yield self.either("constant", i, "false" if sign == "true" else "true", i, i)

    def declared(self, bracket):
        """An array is declared here, not indexed: a type stands before its name, or before that of the first one."""
        first = bracket - 1
        while first > 0 and self.sign(first - 1) not in (";", "{", "}", "(", ":", "return", "case", "else", "sizeof"):
            first -= 1
        second = self.tokens[first + 1] if first + 1 < len(self.tokens) else ("", "", 0, 0)
        return self.tokens[first][0] == "name" and (second[0] == "name" or second[1] == "*" and not self.spaced(first + 1))

    def conditions(self):
        for i, (_, sign, _, _) in enumerate(self.tokens):
            if sign in ("if", "while") and self.sign(i + 1) == "(" and i + 1 in self.partner:
                first, last = i + 2, self.partner[i + 1] - 1
            elif sign == "?":
                first, last = self.first(i, ENDS | ASSIGNMENTS), i - 1
            else:
                continue
            if last < first:
                continue
            start, end = self.span(first, last)
            code = f"(NETPROF_MUTANT({{n}}) != !!({self.brace(self.text[start:end])}))"
            old = self.written(first, last, {})
            yield Site("condition", start, end, code, start, old, f"!({old})")

    def statements(self):
        for i, (group, sign, start, _) in enumerate(self.tokens):
            before = self.sign(i - 1)
            opens = before in (";", "{", "}", "else", "do") or \
                before == ")" and self.sign(self.partner.get(i - 1, 0) - 1) in CONTROL
            if not opens or not (group == "name" or sign in ("*", "++", "--", "(")):
                continue
            last = self.last(i - 1, {";"})
            if self.sign(last + 1) != ";" or sign in ("if", "for", "while", "switch", "do", "else", "case", "default", "goto",
                                                      "const", "static", "struct", "union", "enum", "char", "typedef"):
                continue
            if sign == "return" and last > i or last == i and self.ends_anyway(i):
                continue
            second = self.tokens[i + 1] if i < last else ("sign", ";", 0, 0)
            if group == "name" and (second[0] == "name" or second[1] == "*" and not self.spaced(i + 1)):
                continue  # a declaration
            start, end = self.span(i, last + 1)
            code = f"{{{{ if (!NETPROF_MUTANT({{n}})) {self.brace(self.text[start:end])} }}}}"
            yield Site("statement", start, end, code, start, self.written(i, last + 1, {}), "")

    def ends_anyway(self, i):
        """A break at the end of a switch, a continue at the end of a loop, a return at the end of a function."""
        sign, close = self.sign(i), i + 2
        if sign not in ("break", "continue", "return") or self.sign(close) != "}":
            return False
        opening = self.partner.get(close, -1)
        if sign == "return":
            return opening == 0
        control = self.sign(self.partner.get(opening - 1, 0) - 1)
        return control == "switch" if sign == "break" else control in ("for", "while")

    def arguments(self):
        for i, (group, sign, _, _) in enumerate(self.tokens):
            if group != "name" or self.sign(i + 1) != "(" or i + 1 not in self.partner or sign == sign.upper() or \
                    sign in CONTROL | {"sizeof", "return", "va_arg", "va_start", "va_end", "va_copy", "offsetof"}:
                continue
            end, spans, at = self.partner[i + 1], [], i + 2
            while at < end:
                last = self.last(at - 1, {","})
                spans.append((at, last))
                at = last + 2
            for k, (first, last) in enumerate(spans):
                if last < first or self.sign(first) in ("NULL", "true", "false") or self.tokens[first][0] in ("number", "text"):
                    continue
                start, stop = self.span(first, last)
                old = self.written(first, last, {})
                if self.sign(first) != "&" and not MEMORY.match(sign):
                    yield Site("argument", start, stop, f"({self.brace(self.text[start:stop])}) + NETPROF_MUTANT({{n}})",
                               start, old, f"{old} + 1")
                if k + 1 < len(spans) and spans[k + 1][1] >= spans[k + 1][0] and self.sign(i - 1) not in ("->", "."):
                    other = self.written(*spans[k + 1], {})
                    if old != other and not self.any_order(i, end):  # the call as a whole: of two types in ?: one would become the other
                        yield self.exchanged(i, end, spans[k], spans[k + 1], old, other)

    def any_order(self, name, end):
        """The two arguments may be exchanged for nothing."""
        if self.sign(name) in EQUALITY:
            return self.sign(name - 1) == "!" or (self.sign(end + 1) in ("==", "!=") and self.sign(end + 2) == "0")
        return self.sign(name) in ANY_ORDER or bool(MEMORY.match(self.sign(name)))  # of a count and a size the product

    def exchanged(self, first, last, one, two, old, other):
        """A call with two of its arguments exchanged."""
        start, stop = self.span(first, last)
        code = self.written(first, one[0] - 1, {}) + f"({other}), ({old})" + self.written(two[1] + 1, last, {})
        code = f"(NETPROF_MUTANT({{n}}) ? {self.brace(code)} : {self.brace(self.text[start:stop])})"
        return Site("argument", start, stop, code, self.tokens[one[0]][2], f"{old}, {other}", f"{other}, {old}")


def bodies(text):
    for found in re.finditer(r"^\{\n.*?^\}$", text, re.M | re.S):
        yield Body(text, found.start(), found.end())


def sites_of(path, text, active=None):
    """All changes of a file; active: the lines that a compiler sees."""
    starts = [0]
    for found in re.finditer("\n", text):
        starts.append(found.end())
    lines = text.split("\n")
    out, line = [], 0
    for body in bodies(text):
        for find in (body.operators, body.constants, body.conditions, body.statements, body.arguments):
            for site in find():
                if re.search(r"^\s*#", text[site.start:site.end], re.M) or "//" in site.code or "/*" in site.code:
                    continue
                out.append(site)
    out.sort(key=lambda s: s.at)
    for site in out:
        while line + 1 < len(starts) and starts[line + 1] <= site.at:
            line += 1
        site.path, site.line, site.before = path, line + 1, lines[line].strip()
        column, old = site.at - starts[line], site.old.split("\n")[0]
        if lines[line].startswith(old, column):
            site.after = (lines[line][:column] + site.new + lines[line][column + len(old):]).strip()
        else:  # goes on in the next line
            site.after = f"{site.old} => {site.new}"
        site.after = site.after or "(removed)"
    return [s for s in out if active is None or s.line in active]


def with_mutants(text, sites):
    """The text with all of these in it; they do not overlap. Lines keep their numbers."""
    for site in sorted(sites, key=lambda s: -s.start):
        text = text[:site.start] + site.code.format(n=site.number) + text[site.end:]
    return text

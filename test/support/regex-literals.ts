/** What a `/` after it divides: the end of a value. */
const ENDS_VALUE = /[\w$)\]}"'`]$/;
/** Words that look like values and are none. */
const KEYWORDS = /(?:^|[^\w$.])(?:return|typeof|case|in|of|void|throw|else|await|yield)$/;

/** Text in which nothing begins that has an end of its own. */
const PLAIN = /[^"'`/]+/y;

/** The regular expressions that stand in the text of a module. */
export function regexLiteralsOf(text: string): RegExp[] {
  const found: RegExp[] = [];
  let before = '';
  for (let at = 0; at < text.length;) {
    PLAIN.lastIndex = at;
    const [plain] = PLAIN.exec(text) ?? [];
    if (plain !== undefined) {
      before = wordsBefore(before, plain);
      at += plain.length;
      continue;
    }
    const end = endOfToken(text, at, before);
    const token = text.slice(at, end);
    if (token.startsWith('`')) found.push(...insideTemplate(token).flatMap(regexLiteralsOf));
    if (/^\/[^/*]/.test(token) && token.length > 1) {
      const close = token.lastIndexOf('/');
      found.push(new RegExp(token.slice(1, close), token.slice(close + 1)));
    }
    before = wordsBefore(before, /^\/[/*]/.test(token) ? ' ' : token);
    at = end;
  }
  return found;
}

/** The last characters, in which only one blank stands behind a word, and none elsewhere. */
function wordsBefore(before: string, text: string): string {
  const words = text.trimEnd();
  const isApart = words.length < text.length;
  const last = (before + words.slice(-60))
    .replace(/(?<=[\w$])\s+/g, ' ')
    .replace(/(?<![\w$])\s+/g, '');
  return (isApart && /[\w$]$/.test(last) ? `${last} ` : last).slice(-20);
}

function endOfToken(text: string, at: number, before: string): number {
  const char = text[at] as string;
  const next = text[at + 1];
  if (char === '/' && next === '/') return indexOr(text, '\n', at);
  if (char === '/' && next === '*') return indexOr(text, '*/', at + 2) + 2;
  if (char === '"' || char === "'") return endOfQuoted(text, at, char);
  if (char === '`') return endOfTemplate(text, at);
  if (char === '/') {
    const last = before.trimEnd();
    if (ENDS_VALUE.test(last) && !KEYWORDS.test(last)) return at + 1;
    return endOfRegex(text, at);
  }
  return at + 1;
}

function endOfQuoted(text: string, at: number, quote: string): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === quote) return i + 1;
  }
  return text.length;
}

function endOfTemplate(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === '`') return i + 1;
    else if (text.startsWith('${', i)) i = endOfHole(text, i + 2) - 1;
  }
  return text.length;
}

function endOfHole(text: string, from: number): number {
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    const char = text[i] as string;
    if (char === '`') i = endOfTemplate(text, i) - 1;
    else if (char === '"' || char === "'") i = endOfQuoted(text, i, char) - 1;
    else if (char === '{') depth += 1;
    else if (char === '}' && --depth === 0) return i + 1;
  }
  return text.length;
}

/** The code between `${` and `}`. */
function insideTemplate(template: string): string[] {
  const holes: string[] = [];
  for (let i = 1; i < template.length; i++) {
    if (template[i] === '\\') i += 1;
    else if (template.startsWith('${', i)) {
      const end = endOfHole(template, i + 2);
      holes.push(template.slice(i + 2, end - 1));
      i = end - 1;
    }
  }
  return holes;
}

function endOfRegex(text: string, at: number): number {
  let isInClass = false;
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i];
    if (char === '\\') i += 1;
    else if (char === '[') isInClass = true;
    else if (char === ']') isInClass = false;
    else if (char === '\n') return at + 1;
    else if (char === '/' && !isInClass)
      return i + 1 + (/^[a-z]*/.exec(text.slice(i + 1))?.[0] ?? '').length;
  }
  return text.length;
}

function indexOr(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from);
  return found < 0 ? text.length : found;
}

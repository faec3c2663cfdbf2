/** A comment or a paragraph: its lines, without marks of the language. */
export type Passage = { line: number; text: string }[];

/** Literals, of which one may hold what looks like a comment, and comments. */
const TOKEN =
  /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`|(?<=[=(,:;!&|?{}[\n] ?)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|\/\/[^\n]*|\/\*[^]*?\*\//g;

/** The comments of a module; `//` on lines that follow each other are one. */
export function commentsOf(text: string): Passage[] {
  const comments: Passage[] = [];
  let line = 1;
  let read = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (!/^\/[/*]/.test(token)) continue;
    for (; read < index; read += 1) if (text[read] === '\n') line += 1;
    const lines = token.split('\n').map((part, at) => ({
      line: line + at,
      text: part.replace(/^\s*(?:\/\*\*?|\*(?!\/)|\/\/)?\s*|\s*(?:\*\/)?$/g, ''),
    }));
    const last = comments.at(-1);
    const continues = token.startsWith('//') && last?.at(-1)?.line === line - 1;
    if (continues && /\n\s*$/.test(text.slice(0, index))) last?.push(...lines);
    else comments.push(lines);
  }
  return comments;
}

/** The paragraphs, table rows and list items of a page, without blocks of code and targets of links. */
export function paragraphsOf(page: string): Passage[] {
  const prose = page
    .replace(/^( *)(```|~~~)[^]*?^\1\2/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/<!--[^]*?-->/g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/\]\([^)\n]*\)/g, ']');
  const paragraphs: Passage[] = [];
  let begins = true;
  for (const [at, text] of prose.split('\n').entries()) {
    const isNew = begins || /^\s*(?:[-*|#>]|\d+\.)/.test(text);
    begins = text.trim() === '';
    if (begins) continue;
    const passageLine = { line: at + 1, text: text.trim() };
    if (isNew) paragraphs.push([passageLine]);
    else paragraphs.at(-1)?.push(passageLine);
  }
  return paragraphs;
}

export interface CodeBlock {
  language: string;
  /** `test`, `validate` or `start`; what is not marked is not looked at. */
  mark: string;
  /** The file that the block stands for, when it names one. */
  file: string | undefined;
  code: string;
  /** Of the opening fence, from 1. */
  line: number;
}

/** The fenced blocks of a page whose fence carries a mark, as ```` ```sh test ````. */
export function markedBlocks(page: string): CodeBlock[] {
  const fence = /^```(\w+) (\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm;
  return [...page.matchAll(fence)].map((match) => {
    const [, language = '', mark = '', file, code = ''] = match;
    const line = page.slice(0, match.index).split('\n').length;
    return { language, mark, file, code, line };
  });
}

/** The commands of a terminal session (`$ …`), each with the output that is shown below it. */
export function sessionSteps(code: string): { command: string; output: string }[] {
  return code
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const end = step.indexOf('\n');
      return { command: step.slice(0, end), output: step.slice(end + 1) };
    });
}

/**
 * What an example of output matches: `…` alone on a line stands for any lines, within a line for any
 * characters, and the width of blanks does not count.
 */
export function toPattern(example: string): RegExp {
  const lines = example.trimEnd().split('\n');
  const patterns = lines.map((line) =>
    line === '…' ? '(?:.*\\n)*?' : `${line.trimEnd().split('…').map(escapeText).join('.*')}[ ]*\\n`,
  );
  return new RegExp(`^${patterns.join('')}$`);
}

function escapeText(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/ +/g, ' +');
}

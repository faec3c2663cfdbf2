import { CliError } from '../cli-error.ts';

const MAX_CHARS = 32 * 1024 * 1024;

/** The lines of a stream that say anything. @throws CliError `line_too_long` */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_CHARS) {
      const message = `a line is longer than ${MAX_CHARS} characters`;
      throw new CliError({ code: 'line_too_long', message });
    }
    yield* lines.filter((line) => line.trim() !== '');
  }
  if (rest.trim() !== '') yield rest;
}

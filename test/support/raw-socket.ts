import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';

/** One answer as it stood on the wire. */
export interface WireAnswer {
  status: number;
  /** Lines of the head behind the status line. */
  headers: string[];
  body: string;
}

/**
 * Writes bytes to a server on a connection of their own and gives the answers up to the end of the
 * connection, `isOver` or `quietMs` of silence.
 */
export async function speak(
  url: string,
  text: string | Buffer,
  { isOver = () => false, quietMs = 10_000 }: SpeakOptions = {},
): Promise<{ answers: WireAnswer[]; closed: boolean; said: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname.replace(/[[\]]/g, ''));
  let said = '';
  let closed = false;
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const over = new Promise<void>((resolve) => {
    let timer = setTimeout(resolve, quietMs);
    socket.on('close', () => {
      clearTimeout(timer);
      closed = true;
      resolve();
    });
    socket.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1');
      clearTimeout(timer);
      if (isOver(answersIn(said))) return resolve();
      timer = setTimeout(resolve, quietMs);
    });
  });
  socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text);
  await over;
  socket.destroy();
  return { answers: answersIn(said), closed, said };
}

export interface SpeakOptions {
  isOver?: (answers: readonly WireAnswer[]) => boolean;
  quietMs?: number;
}

/** Complete answers; bodies have a length, are chunked or end with the text. */
export function answersIn(said: string): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = said;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const [line = '', ...headers] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1]);
    const after = rest.slice(end + 4);
    const body = bodyOf(status, headers, after);
    if (body === undefined) return answers;
    answers.push({ status, headers, body: body.text });
    rest = after.slice(body.length);
  }
}

function bodyOf(
  status: number,
  headers: readonly string[],
  after: string,
): { text: string; length: number } | undefined {
  if (status < 200 || status === 204 || status === 304) return { text: '', length: 0 };
  const length = headers.map((line) => /^content-length: (\d+)$/i.exec(line)?.[1]).find(Boolean);
  if (length !== undefined) {
    const text = after.slice(0, Number(length));
    return text.length < Number(length) ? undefined : { text, length: Number(length) };
  }
  if (!headers.some((line) => /^transfer-encoding: chunked$/i.test(line)))
    return { text: after, length: after.length };
  const end = after.indexOf('0\r\n\r\n');
  return end < 0 ? undefined : { text: after.slice(0, end), length: end + 5 };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { startUpstream } from '../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../support/stage/upstream.ts';

/** Of the packages that `scripts/test-clients.js` installs. */
export const CLAUDE = join(
  process.env['CLIENTS'] ?? '',
  `node_modules/@anthropic-ai/claude-code-${platform()}-${arch()}/claude`,
);

/** Of one run; those that go well take 5 s on an idle machine. */
const LONGEST_MS = 90_000;

/** One request of the client with what it got. */
export interface Exchange extends SeenRequest {
  answer: { status: number; headers: IncomingMessage['headers']; body: string; ms: number };
}

/** Stands between the client and the gateway and changes nothing. */
export async function startRecorder(
  target: () => string,
): Promise<Upstream & { seen: Exchange[] }> {
  const recorder = await startUpstream((response, seen) => forward(response, seen, target()));
  return recorder as Upstream & { seen: Exchange[] };
}

async function forward(response: ServerResponse, seen: SeenRequest, to: string): Promise<void> {
  const begun = performance.now();
  const { method, url, headers, body } = seen;
  const out = request(to + url, { method, headers: { ...headers, connection: 'close' } });
  out.end(body);
  const [answer] = (await once(out, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headers: got } = answer;
  response.writeHead(status, got);
  response.flushHeaders();
  let text = '';
  const record = (): void => {
    const ms = performance.now() - begun;
    (seen as Exchange).answer = { status, headers: got, body: text, ms };
  };
  record();
  for await (const chunk of answer) {
    text += String(chunk);
    response.write(chunk);
  }
  record();
  response.end();
}

export interface Run {
  readonly code: number;
  readonly output: string;
}

/** `claude -p` in a home of its own; nothing but the given variables and a path is in its environment. */
export async function runClaude(
  words: readonly string[],
  { home, cwd, env }: { home: string; cwd: string; env: Record<string, string> },
): Promise<Run> {
  const child = spawn(CLAUDE, ['-p', ...words], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home, DISABLE_AUTOUPDATER: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

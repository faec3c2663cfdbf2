import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../store/support/free-port.ts';

export interface Nginx {
  readonly url: string;
  close(): Promise<void>;
}

/** Block of a page with the language `nginx` that has an `upstream`. */
export function upstreamBlock(page: string): string {
  const blocks = Array.from(page.matchAll(/^```nginx\n([^]*?)^```$/gm), ([, code = '']) => code);
  const found = blocks.filter((code) => /^upstream /m.test(code));
  if (found.length !== 1) throw new Error(`${found.length} blocks of the page have an upstream`);
  return found[0] ?? '';
}

/** Runs nginx with a block as it is, but for the addresses of its nodes and of the listener, without TLS. */
export async function startNginx(
  program: string,
  block: string,
  nodes: readonly string[],
): Promise<Nginx> {
  const directory = await mkdtemp(join(tmpdir(), 'nginx-'));
  const port = await freePort();
  const left = nodes.map((url) => new URL(url).host);
  const used = block
    .replace(/(?<=^ *server )[\d.]+:\d+/gm, () => left.shift() ?? '')
    .replace(/^ *listen .*$/m, `listen 127.0.0.1:${port};`)
    .replace(/^ *ssl_certificate.*$/gm, '');
  if (left.length > 0 || !used.includes(`:${port}`))
    throw new Error('the block of the page has another form');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (what) => `${what}_temp_path ${directory}/${what};`,
  );
  const file = join(directory, 'nginx.conf');
  const log = join(directory, 'error.log');
  const own = `daemon off; master_process off; pid ${directory}/pid; error_log ${log};`;
  const http = ['access_log off;', ...paths, used].join('\n');
  await writeFile(file, `${own}\nevents {}\nhttp {\n${http}\n}\n`);
  const child = spawn(program, ['-c', file, '-e', log], { stdio: 'ignore' });
  const exit = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  // Its answer comes from a gateway: both listen by then.
  while (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(await readFile(log, 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url,
    async close() {
      child.kill('SIGQUIT');
      await exit;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageFile } from '../../core/package-root.ts';
import { needConfigHome } from '../connection/config-home.ts';
import type { CliIo } from '../io.ts';
import type { DevListener } from './https-listener.ts';

/** Question before anything is downloaded or opened. */
export const TUNNEL_QUESTION = [
  '--public downloads the program cloudflared from github.com/cloudflare, once, and with it opens this',
  'gateway to everybody who learns its address; what is done there needs a key. Its license and terms:',
  'https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/license/',
  'https://www.cloudflare.com/terms/ https://www.cloudflare.com/privacypolicy/',
  'Go on?',
].join('\n');

/**
 * Opens a tunnel from a public address to the gateway, in a process of its own: the library ends the
 * process that uses it on a signal. The tunnel's program is kept in the user's own directory, where
 * no other user can replace it. Ask {@link TUNNEL_QUESTION} before.
 *
 * @param url origin of the gateway
 * @throws Error when the program cannot be downloaded or ends before it prints its address
 */
export async function openTunnel(url: string, env: CliIo['env']): Promise<DevListener> {
  const home = join(needConfigHome(env), 'tunnel');
  await mkdir(home, { recursive: true, mode: 0o700 });
  const child = spawn(process.execPath, [packageFile('bin/gateway.js'), 'dev-tunnel', url], {
    env: { ...env, TMPDIR: home, TEMP: home, UNTUN_ACCEPT_CLOUDFLARE_NOTICE: '1' },
    // A closed stdin reports our end to the child, however that comes.
    stdio: ['pipe', 'pipe', 'inherit'],
    // Ctrl-C is for the gateway, which drains first.
    detached: true,
  });
  const exited = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const [, found] = /^tunnel (https?:\/\/\S+?)\/?$/.exec(line) ?? [];
    if (found === undefined) continue;
    child.stdout.resume();
    return {
      url: found,
      close: async () => {
        child.stdin.end();
        await exited;
      },
    };
  }
  throw new Error('the tunnel could not be opened');
}

import { spawn } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import type { Served } from '../../../server/process/run-start.ts';
import type { CommandContext } from '../../context.ts';
import type { DevListener } from '../../dev/https-listener.ts';
import { createRequestLines } from '../../dev/request-line.ts';
import { isLoopback } from '../../connection/connection.ts';
import { openBrowser } from '../../local/open-browser.ts';
import { createStyle, wantsColor } from '../../output/style.ts';
import { readsEnvFile } from '../../project/project.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const QR_HINT = 'add --host 0.0.0.0 for this network, or --public';

/** Serves like `gateway start`, for local development. */
export const run: RunOf<'dev'> = async ({ flags, context }) => {
  const { io } = context;
  if (flags.public) {
    const { TUNNEL_QUESTION } = await import('../../dev/tunnel.ts');
    await context.confirm(TUNNEL_QUESTION);
  }
  const opened: DevListener[] = [];
  const { runStart } = await import('../../../server/process/run-start.ts');
  const { isTTY = false } = io.stderr;
  const style = createStyle(
    wantsColor({ isTTY, env: io.env, off: context.globals.values['no-color'] }),
  );
  try {
    const exitCode = await runStart({
      configPaths: flags.config,
      host: flags.host,
      port: flags.port,
      allowExec: flags['allow-exec'],
      workers: 1,
      watch: true,
      check: false,
      env: io.env,
      envFile: readsEnvFile(context.globals),
      isTerminal: isTTY,
      cwd: io.cwd,
      renderLog: createRequestLines(style),
      onListening: (served) => openAll(served, { flags, context, opened }),
    });
    return { streamed: true, data: null, exitCode };
  } finally {
    for (const listener of opened) await listener.close();
  }
};

interface Opening {
  flags: InputOf<'dev'>['flags'];
  context: CommandContext;
  opened: DevListener[];
}

/** Opens the addresses that the flags ask for in addition to the gateway's own. */
async function openAll(
  { url, consoleUrl, host: listenHost }: Served,
  { flags, context, opened }: Opening,
): Promise<void> {
  const { output, io } = context;
  let best = url;
  if (flags.https && url.startsWith('https:')) {
    output.note('  https       served by server.listen.tls already');
  } else if (flags.https) {
    const { listenWithHttps } = await import('../../dev/https-listener.ts');
    const port = flags['https-port'] ?? 0;
    const listener = await listenWithHttps({ url, host: listenHost, port });
    opened.push(listener);
    best = listener.url;
    output.note(
      `  https       ${best} (its certificate is its own: clients must be told to trust it)`,
    );
  }
  if (flags.public) {
    const { openTunnel } = await import('../../dev/tunnel.ts');
    const tunnel = await openTunnel(url, io.env);
    opened.push(tunnel);
    best = tunnel.url;
    output.note(`  public      ${best}`);
  }
  if (flags.qr) {
    const address = await outsideAddress(best, listenHost);
    if (address === undefined) output.warn(`no other device reaches ${best}; ${QR_HINT}`);
    else output.note(await qrCode(address));
  }
  if (flags.clipboard) {
    const { writeText } = await import('tinyclip');
    const failed = await writeText(best).then(
      () => undefined,
      (cause: Error) => cause.message,
    );
    if (failed === undefined) output.note(`  ${best} is in the clipboard`);
    else output.warn(`the clipboard cannot be written: ${failed}`);
  }
  if (flags.open) {
    const host = { platform: process.platform, env: io.env, spawn };
    const isOpen = await openBrowser(consoleUrl ?? best, host);
    if (!isOpen) output.warn('no browser can be opened here; open the address above');
  }
}

/** Address by which other devices reach a listener on `host`; undefined where they cannot. */
async function outsideAddress(address: string, host: string): Promise<string | undefined> {
  if (!isLoopback(address)) return address;
  if (host !== '0.0.0.0' && host !== '::') return undefined;
  const { outsideAddresses } = await import('../../../server/http/opening-note.ts');
  const [found] = outsideAddresses(networkInterfaces());
  if (found === undefined) return undefined;
  const url = new URL(address);
  url.hostname = found;
  return url.origin;
}

async function qrCode(address: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr');
  return `\n${renderUnicodeCompact(address)}\n  ${address}\n`;
}

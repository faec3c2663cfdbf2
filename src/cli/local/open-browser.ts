import type { spawn } from 'node:child_process';

export interface BrowserHost {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly spawn: typeof spawn;
}

/**
 * Opens an address in the browser of the local user; false where there is none, as on a machine
 * without a desktop.
 */
export async function openBrowser(href: string, host: BrowserHost): Promise<boolean> {
  const [program, ...args] = openerOf(host);
  if (program === undefined) return false;
  return new Promise((resolve) => {
    const child = host.spawn(program, [...args, href], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

function openerOf({ platform, env }: BrowserHost): string[] {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const hasDesktop = Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
  return hasDesktop ? ['xdg-open'] : [];
}

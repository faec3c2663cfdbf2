import { spawn } from 'node:child_process';
import { openBrowser } from '../../local/open-browser.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'console'> = async ({ flags, context }) => {
  const { io, signal, format } = context;
  const client = await context.connect();
  const { href, expires_at } = await client.console.createLink(signal);
  const mayOpen = !flags['no-open'] && format === 'text';
  const host = { platform: process.platform, env: io.env, spawn };
  const opened = mayOpen && (await openBrowser(href, host));
  const shown = href.replace(/#.*/, '');
  return {
    data: { href, expires_at, opened },
    text: opened ? `opened ${shown} in the browser\n` : `${href}\n`,
  };
};

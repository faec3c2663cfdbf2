import { once } from 'node:events';
import { createForward } from '../../dev/forward.ts';
import { freePort } from '../../dev/free-port.ts';
import type { RunOf } from '../../commands.ts';

/** Holds a tunnel to a gateway open until stdin ends, and writes `tunnel <address>` when it is there. */
export const run: RunOf<'dev-tunnel'> = async ({ args, context }) => {
  const { listen } = await import('listhen');
  const listener = await listen(createForward({ url: args.url, isPublic: true }), {
    hostname: '127.0.0.1',
    port: await freePort('127.0.0.1'),
    public: false,
    tunnel: true,
    showURL: false,
    autoClose: false,
  });
  // The library leaves a rejection unhandled when its program ends.
  process.on('unhandledRejection', () => undefined);
  try {
    const urls = await listener.getURLs();
    const tunnel = urls.find(({ type }) => type === 'tunnel');
    await context.output.print(`tunnel ${tunnel?.url ?? ''}`);
    process.stdin.resume();
    await once(process.stdin, 'close');
    return { streamed: true, data: null };
  } finally {
    await listener.close();
  }
};

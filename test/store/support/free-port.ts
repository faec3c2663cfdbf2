import { createServer } from 'node:net';

/** Ports below those that systems give to servers that ask for any, so that no other test gets one meanwhile. */
const FIRST = 12_000;
const COUNT = 20_000;

/** A port that nothing listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

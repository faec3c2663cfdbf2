import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A port of this address that was free a moment ago. */
export async function freePort(host: string): Promise<number> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

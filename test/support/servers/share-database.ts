import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** The variable with the path of the socket at which a run gives databases out. */
export const SERVERS_SOCKET = 'GATEWAY_TEST_SERVERS';

/** A database of the caller's own on a server of the whole run. */
export interface SharedDatabase {
  readonly url: string;
  /** No other caller has it. */
  readonly name: string;
  /** Of `server.store`. Redis has one set of channels for all of its databases: a prefix keeps them apart. */
  readonly options: { readonly url: string; readonly prefix?: string };
}

/**
 * An empty database on the server of the run, for files that neither end the server nor change its
 * settings.
 */
export async function shareDatabase(driver: string): Promise<SharedDatabase> {
  const path = process.env[SERVERS_SOCKET];
  if (path === undefined) throw new Error('the configuration of Vitest lacks its globalSetup');
  const socket = connect(path);
  socket.write(driver);
  const answer = JSON.parse(await text(socket)) as SharedDatabase & { error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

import type { Redis } from 'ioredis';
import { connectTo, namesOf } from './connection.ts';
import type { RedisPlace } from './connection.ts';

/** Far more commits than a replica can miss. */
const MISSED = 1_000_000;

/**
 * A connection for writes that leaves a server which has become a replica: it would refuse them for as long as
 * the connection lasts. Nothing is sent again by itself. The listener follows once a server takes writes again.
 */
export function connectToMaster(place: RedisPlace, listener: Redis): Redis {
  let isMoved = false;
  const connection = connectTo(place, {
    reconnectOnError(error) {
      const isRefused = error.message.startsWith('READONLY');
      isMoved ||= isRefused;
      return isRefused;
    },
  });
  const goOn = async (): Promise<void> => {
    await skipVersions(connection, place);
    if (isMoved) listener.disconnect(true);
    isMoved = false;
  };
  // The store may have to be made first.
  connection.once('ready', () => {
    connection.on('ready', () => void goOn().catch(() => undefined));
  });
  return connection;
}

/** A replica that took over has missed versions that were given out: they must not be given out again. */
async function skipVersions(connection: Redis, place: RedisPlace): Promise<void> {
  await connection.incrby(namesOf(place).version, MISSED);
}

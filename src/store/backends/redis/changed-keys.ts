/**
 * The keys that a message of the channel names, one character for each byte; undefined when it names
 * none in particular. Each stands behind its length, as `5:hello`.
 */
export function readChangedKeys(message: Buffer): string[] | undefined {
  const keys: string[] = [];
  for (let at = 0; at < message.length;) {
    const colon = message.indexOf(':', at);
    const length = Number(message.toString('latin1', at, colon));
    if (colon < 0 || !Number.isSafeInteger(length)) return undefined;
    at = colon + 1 + length;
    keys.push(message.toString('latin1', colon + 1, at));
  }
  return keys;
}

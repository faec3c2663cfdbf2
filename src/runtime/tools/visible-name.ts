import { createHash } from 'node:crypto';

const ALLOWED = /^[\w-]{1,64}$/;
const KEPT_CHARS = 55;

/** The name by which the model calls a tool of a server: the same for the same tool, whatever else there is. */
export function toVisibleName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  if (ALLOWED.test(plain) && isUnmistakable(server, tool)) return plain;
  const digest = createHash('sha256').update(`${server}\n${tool}`).digest('hex').slice(0, 8);
  return `${plain.replace(/[^\w-]/g, '_').slice(0, KEPT_CHARS)}_${digest}`;
}

/** True where the first `__` is the one between the two, so that no other pair reads the same. */
function isUnmistakable(server: string, tool: string): boolean {
  return !server.includes('__') && !server.endsWith('_') && !tool.startsWith('_');
}

/** Revisions of the Model Context Protocol that begin with `initialize`, newest first. */
export const MCP_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

/** The client's version if it is known, else the newest: the client decides whether to continue. */
export function negotiate(asked: string): string {
  return MCP_VERSIONS.includes(asked) ? asked : String(MCP_VERSIONS[0]);
}

/** Revisions of stateless requests, newest first. */
export const MODERN_VERSIONS: readonly string[] = ['2026-07-28'];

export const KNOWN_VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...MCP_VERSIONS];

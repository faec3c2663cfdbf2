/** Members that the gateway keeps by itself and no file declares. */
const OWN = new Set([
  'id',
  'type',
  'version',
  'labels',
  'created_at',
  'updated_at',
  'archived_at',
  'agent_version',
  'api_key_configured',
  'tls_key_configured',
  'hint',
  'revoked_at',
  'rotated_at',
  'former_hint',
  'former_until',
  'urls',
  'agent_binding',
  'status',
  'paused_reason',
  'chat_webhook_configured',
]);

/** An object as the entry of a file: members that say something, without those of the gateway itself. */
export function toEntry(object: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(object).filter(([name, value]) => !OWN.has(name) && !isEmpty(value));
  return `- ${toYaml(Object.fromEntries(told), 1).trimStart()}\n`;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function toYaml(value: unknown, depth: number): string {
  const pad = '  '.repeat(depth);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return value.map((one) => `\n${pad}- ${toYaml(one, depth + 1).trimStart()}`).join('');
  }
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value);
    if (members.length === 0) return '{}';
    return members
      .map(([name, one]) => {
        const text = toYaml(one, depth + 1);
        return `\n${pad}${quoted(name)}:${text.startsWith('\n') ? text : ` ${text}`}`;
      })
      .join('');
  }
  return typeof value === 'string' ? quoted(value) : String(value);
}

/** Plain where YAML reads the same text back. */
function quoted(text: string): string {
  return /^[A-Za-z][\w./@ -]*$/.test(text) &&
    !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text) &&
    !text.endsWith(' ')
    ? text
    : JSON.stringify(text);
}

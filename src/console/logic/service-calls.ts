import { toShellWord } from '../../core/shell-word.ts';

/** A Service as far as its calls need it. */
export interface CallableService {
  readonly slug: string | null;
  /** Paths by protocol. */
  readonly urls: Readonly<Record<string, string>>;
}

/** A call of a Service to paste; the key is a variable. */
export function toServiceCurl({ urls }: CallableService, origin: string): string {
  return [
    `curl ${toShellWord(`${origin}${urls['rest']}`)}`,
    '-H "authorization: Bearer $GATEWAY_API_KEY"',
    `-H 'content-type: application/json'`,
    `-d '{"input":"Hello"}'`,
  ].join(' \\\n  ');
}

/** The command that adds a Service to Claude Code; the shell gives it the key. */
export function toMcpCommand({ slug, urls }: CallableService, origin: string): string {
  const [name, url] = [slug ?? 'service', `${origin}${urls['mcp']}`].map(toShellWord);
  return `claude mcp add --transport http ${name} ${url} --header "Authorization: Bearer $GATEWAY_API_KEY"`;
}

import type { Clock } from '../../core/time/clock.ts';
import type { IdSource } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { toPublicMessage } from '../../core/redact.ts';
import type { AgentMcpServer } from '../../sessions/resolved-agent.ts';
import type { UrlGuard } from '../../upstream/guard/url-guard.ts';
import { toProcessEnvironment } from '../process/process-environment.ts';
import { startProcess } from '../process/start-process.ts';
import type { ProcessFault } from '../process/start-process.ts';
import type { Reaper } from '../reaper/create-reaper.ts';
import { programSecrets } from './program-secrets.ts';
import type { DeclaredProgram } from './program-secrets.ts';
import { HttpTransport } from './http-transport.ts';
import { StdioTransport } from './stdio-transport.ts';
import { toHeaders } from './tool-credentials.ts';
import type { ToolCredential } from './tool-credentials.ts';
import { ToolServerError } from './tool-server.ts';
import type { ToolTransport } from './tool-transport.ts';

/** A process that the operator declared (config: server.mcp_servers). */
export interface StdioServer extends DeclaredProgram {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
}

export interface McpTransportDeps {
  readonly guard: UrlGuard;
  /** Declared programs by name; nothing else is ever run. */
  readonly stdioServers: ReadonlyMap<string, StdioServer>;
  readonly reaper: Reaper;
  /** The gateway's own, of which little is passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
}

/** Most bytes of one answer of a server. */
const MAX_BYTES = 16 * 1024 * 1024;

const FAULTS: Readonly<Record<ProcessFault, string>> = {
  start_failed: 'the process of the server could not be started',
  too_much_output: 'the answer of the server is too large',
};

/**
 * A fresh way to the server, not yet connected.
 *
 * @throws ToolServerError for a process that is not declared
 * @throws UrlGuardError for an address that must not be called
 */
export async function createMcpTransport(
  server: AgentMcpServer,
  credentials: readonly ToolCredential[],
  deps: McpTransportDeps,
): Promise<ToolTransport> {
  if (server.type === 'stdio') {
    const declared = deps.stdioServers.get(server.server ?? '');
    if (!declared) throw new ToolServerError('connection', 'the operator declares no such server');
    return toStdio(declared, credentials, { ...deps, name: server.server ?? '' });
  }
  const { guard, clock } = deps;
  const url = await guard.check(server.url ?? '');
  const headers = toHeaders(credentials);
  return new HttpTransport(url, { guard, headers, clock, maxBytes: MAX_BYTES });
}

function toStdio(
  server: StdioServer,
  credentials: readonly ToolCredential[],
  { environment, reaper, clock, ids, log, name }: McpTransportDeps & { readonly name: string },
): ToolTransport {
  const { command, args = [], env: declared = {}, cwd } = server;
  const given = Object.fromEntries(credentials.map((one) => [one.name, one.value]));
  const env = toProcessEnvironment({ inherited: environment, declared, credentials: given });
  const secrets = [...Object.values(given), ...programSecrets(server)];
  return new StdioTransport(() =>
    startProcess({
      program: { command, args },
      env,
      cwd,
      maxLine: MAX_BYTES,
      marker: ids.next('server'),
      reaper,
      clock,
      onStderr: (line) =>
        log.info('mcp server', { server: name, line: toPublicMessage(line, { secrets }) }),
      onStuck: () => log.error('processes of an MCP server cannot be ended', { server: name }),
      toError: (fault) => new ToolServerError('connection', FAULTS[fault]),
    }),
  );
}

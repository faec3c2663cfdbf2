import { ask } from '../../support/gateway.ts';
import type { ServiceServer } from './serve-services.ts';

export const MODERN = '2026-07-28';
export const TASKS = 'io.modelcontextprotocol/tasks';
/** Capabilities of a client that shows forms. */
export const FORMS = { elicitation: { form: {} } };

export const modernCall = (name: string, args: object = {}) => ({ name, arguments: args });

export const modernHeaders = (method: string, name?: string): Record<string, string> => ({
  'mcp-protocol-version': MODERN,
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});

interface Sending {
  readonly capabilities?: object;
  readonly key?: string;
  readonly service?: string;
  readonly headers?: Record<string, string>;
}

/** A request of MCP 2026-07-28, as it stands on the wire. */
export function modern(
  { url }: Pick<ServiceServer, 'url'>,
  method: string,
  ...[params = {}, sending = {}]: [params?: Record<string, unknown>, sending?: Sending]
) {
  const { capabilities = {}, key = 'org_1', service = 'ep_1', headers = {} } = sending;
  const named = params['name'] ?? params['taskId'];
  return ask(`${url}/v1/endpoints/${service}/mcp`, {
    method: 'POST',
    key,
    headers: { ...modernHeaders(method, named as string | undefined), ...headers },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          ...(params['_meta'] as object | undefined),
          'io.modelcontextprotocol/protocolVersion': MODERN,
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    },
  });
}

import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '../../../core/json/value.ts';
import {
  fromHeaderText,
  MCP_VERSION_MEMBER,
  mcpMetaOf,
  mcpNameOf,
} from '../../../core/mcp/mcp-headers.ts';
import { RPC } from '../json-rpc.ts';
import type { RpcRequest } from '../json-rpc.ts';
import { KNOWN_VERSIONS, MCP_VERSIONS, MODERN_VERSIONS } from './mcp-versions.ts';
import { takesForms } from './questions.ts';
import { Refusal } from './refusal.ts';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const TASKS = 'io.modelcontextprotocol/tasks';

/** Codes of this revision for requests that are refused with the status 400. */
const HEADER_MISMATCH = -32020;
const MISSING_CAPABILITY = -32021;
const UNSUPPORTED_VERSION = -32022;

/** A request that needs none before it. */
export interface ModernRequest extends Omit<RpcRequest, 'type'> {
  /** The client shows forms to its user. */
  readonly takesForms: boolean;
  /** The client knows the extension of tasks. */
  readonly takesTasks: boolean;
}

/** True for a message of a revision without `initialize`, from its body or its header. */
export function isModern(value: unknown, headers: IncomingHttpHeaders): boolean {
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (messages.some((one) => mcpMetaOf(one) !== undefined)) return true;
  return namesModern(headers) && !(isJsonObject(value) && value['method'] === 'initialize');
}

export function namesModern(headers: IncomingHttpHeaders): boolean {
  return MODERN_VERSIONS.includes(String(headers['mcp-protocol-version']));
}

/**
 * Reads what a request carries in `_meta`, and compares its headers with its body.
 *
 * @throws Refusal 400
 */
export function readModern(request: RpcRequest, headers: IncomingHttpHeaders): ModernRequest {
  const { id, method, params } = request;
  const meta = mcpMetaOf(request) ?? {};
  checkVersion(meta[MCP_VERSION_MEMBER], headers);
  const capabilities = meta[CAPABILITIES];
  if (!isJsonObject(capabilities)) throw missing(CAPABILITIES);
  compare('Mcp-Method', headers['mcp-method'], method);
  const name = mcpNameOf(method, params);
  const given = headers['mcp-name'];
  // A value that no client may send is no name, though it is there.
  const decoded = given === undefined ? given : (fromHeaderText(String(given)) ?? null);
  if (name !== undefined) compare('Mcp-Name', decoded, name);
  const { extensions } = capabilities;
  const takesTasks = isJsonObject(extensions) && isJsonObject(extensions[TASKS]);
  return { id, method, params, takesForms: takesForms(capabilities), takesTasks };
}

function checkVersion(requested: unknown, headers: IncomingHttpHeaders): void {
  if (typeof requested !== 'string') throw missing(MCP_VERSION_MEMBER);
  compare('MCP-Protocol-Version', headers['mcp-protocol-version'], requested);
  if (MODERN_VERSIONS.includes(requested)) return;
  const supported = KNOWN_VERSIONS;
  const older = MCP_VERSIONS.includes(requested) ? `; ${requested} begins with initialize` : '';
  const message = `unsupported protocol version${older}; known are ${supported.join(', ')}`;
  throw new Refusal(400, message, { code: UNSUPPORTED_VERSION, data: { supported, requested } });
}

function missing(key: string): Refusal {
  return new Refusal(400, `params._meta["${key}"] is required`, { code: RPC.invalidParams });
}

/** Both are compared byte by byte; a header that came twice is no value of the body. */
function compare(header: string, given: unknown, body: string): void {
  if (given === body) return;
  const fault = given === undefined ? 'is required' : 'is not what the body says';
  throw new Refusal(400, `the header ${header} ${fault}`, { code: HEADER_MISMATCH });
}

/** @throws Refusal 400 for a client that does not say that it knows tasks */
export function needTasks({ takesTasks }: ModernRequest): void {
  if (takesTasks) return;
  const message = `the client must declare the extension ${TASKS} in its capabilities`;
  const data = { requiredCapabilities: { extensions: { [TASKS]: {} } } };
  throw new Refusal(400, message, { code: MISSING_CAPABILITY, data });
}

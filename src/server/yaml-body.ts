import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Diagnostic } from '../config/diagnostic.ts';
import { createPlaces } from '../config/locate.ts';
import { parseYaml } from '../config/parse-yaml.ts';
import { GatewayError } from '../core/errors.ts';
import { isJsonObject } from '../core/json-value.ts';
import type { Body } from '../resources/parse-body.ts';

/** True when the content type says that the body is YAML. */
export function isYaml({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return /^(application|text)\/(x-)?yaml(?=[ \t;]|$)/i.test(headers['content-type'] ?? '');
}

/**
 * The object that a YAML body holds, in one document; where it is `optional`, none is an empty one.
 * Bounded as files of the configuration are.
 *
 * @throws GatewayError `invalid_request` with line and column of the first fault
 */
export function readYamlObject(bytes: Buffer, { optional = false } = {}): Body {
  if (!isUtf8(bytes)) throw invalid('not UTF-8');
  const source = { file: '', directory: '', text: bytes.toString('utf8') };
  const { documents, diagnostics } = parseYaml(source, createPlaces());
  const [fault] = diagnostics;
  if (fault) throw invalid(toText(fault));
  if (optional && documents.length === 0) return {};
  const value = documents[0]?.value;
  if (documents.length === 1 && isJsonObject(value)) return value;
  throw invalid('expected one document that is a mapping');
}

function toText({ line, column, message, hint }: Diagnostic): string {
  return `line ${line}, column ${column}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

function invalid(what: string): GatewayError {
  return new GatewayError('invalid_request', {
    message: `request body is not valid YAML: ${what}`,
  });
}

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Diagnostic, Place } from '../../config/source/diagnostic.ts';
import { createPlaces } from '../../config/source/locate.ts';
import { parseYaml } from '../../config/source/parse-yaml.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { Body } from '../../resources/store/stored.ts';

/** Words, signs and lines: some thousand lines, read in a fraction of a second. */
const MAX_STEPS = 20_000;

/** True when the content type says that the body is YAML. */
export function isYaml({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return /^(application|text)\/(x-)?yaml(?=[ \t;]|$)/i.test(headers['content-type'] ?? '');
}

export interface YamlBody {
  readonly value: Body;
  /** An error that names a member, with the line and column of that member's value. */
  locate(thrown: unknown): unknown;
}

/**
 * The object that a YAML body holds, in one document; where it is `optional`, none is an empty one.
 * Bounded as files of the configuration are, and shorter.
 *
 * @throws GatewayError `invalid_request` with line and column of the first fault
 */
export function readYaml(bytes: Buffer, { optional = false } = {}): YamlBody {
  if (!isUtf8(bytes)) throw invalid('not UTF-8');
  const source = { file: '', directory: '', text: bytes.toString('utf8') };
  const places = createPlaces();
  const { documents, diagnostics } = parseYaml(source, places, { maxSteps: MAX_STEPS });
  const [fault] = diagnostics;
  if (fault) throw invalid(at(fault, withHint(fault)));
  const value = optional && documents.length === 0 ? {} : documents[0]?.value;
  if (documents.length > 1 || !isJsonObject(value))
    throw invalid('expected one document that is a mapping');
  return {
    value,
    locate(thrown) {
      if (!(thrown instanceof GatewayError) || thrown.param === undefined) return thrown;
      const path = thrown.param.split(/[.[\]]+/).filter((step) => step !== '');
      return thrown.with({ message: at(places.find(value, path), thrown.message) });
    },
  };
}

function at({ line, column }: Place, message: string): string {
  return `line ${line}, column ${column}: ${message}`;
}

function withHint({ message, hint }: Diagnostic): string {
  return hint === undefined ? message : `${message} (${hint})`;
}

function invalid(what: string): GatewayError {
  return new GatewayError('invalid_request', {
    message: `request body is not valid YAML: ${what}`,
  });
}

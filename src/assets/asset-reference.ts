import { GatewayError } from '../core/errors.ts';
import { isJsonObject } from '../core/json/value.ts';

const SCHEME = 'asset://';
/**
 * Matches the text after the scheme: nothing that a URL would read as port, path, query or escape.
 */
const EXTERNAL_ID = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,199}$/;
/** More than any request of a person names. */
const MAX_REFERENCES = 64;
/** Characters at the end of a name that are looked at: clients may make names of megabytes. */
const MAX_NAME_END = 64;

/** The permanent reference of an asset (contract: Asset). */
export function toAssetUrl(externalId: string): string {
  return SCHEME + externalId;
}

/** The external id that a whole text refers to; undefined where it is malformed or none. */
export function fromAssetUrl(text: string): string | undefined {
  if (!text.startsWith(SCHEME)) return undefined;
  const id = text.slice(SCHEME.length);
  return isExternalId(id) ? id : undefined;
}

export function isExternalId(text: string): boolean {
  return EXTERNAL_ID.test(text);
}

/** Position at which a request names an asset. */
export interface AssetReference {
  readonly path: readonly (string | number)[];
  readonly externalId: string;
}

/**
 * Members of callers' notes on their requests, and of texts of models and tools: no input of a
 * model.
 */
const OPAQUE: ReadonlySet<string> = new Set([
  'metadata',
  'labels',
  'tools',
  'tool_choice',
  'response_format',
  'arguments',
  'args',
  'functionCall',
  'function_call',
  'functionResponse',
  'function_response',
]);

/** The last word of names of members that hold media, whatever a model calls them. */
const MEDIA_WORDS: ReadonlySet<string> = new Set([
  'audio',
  'data',
  'file',
  'frame',
  'image',
  'mask',
  'media',
  'reference',
  'source',
  'uri',
  'url',
  'video',
]);

/** True for a body that may name an asset; costs next to nothing for one that does not. */
export function mentionsAsset(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith(SCHEME);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) {
    for (const one of value) if (typeof one !== 'number' && mentionsAsset(one)) return true;
    return false;
  }
  for (const key in value) {
    if (mentionsAsset((value as Record<string, unknown>)[key])) return true;
  }
  return false;
}

/**
 * The references of a parsed request body, in its order: texts that are a reference as a whole, in members that
 * are named as such of media are. A text for the model or a tool is skipped.
 *
 * @throws GatewayError `invalid_request` with the path, for a malformed one and for too many
 */
export function findAssetReferences(value: unknown): AssetReference[] {
  const found: AssetReference[] = [];
  const visit = (one: unknown, path: readonly (string | number)[], name: string): void => {
    if (typeof one === 'string') {
      if (one.startsWith(SCHEME) && isMediaName(name)) found.push(toReference(one, path));
    } else if (Array.isArray(one)) {
      one.forEach((element, index) => visit(element, [...path, index], name));
    } else if (isJsonObject(one)) {
      for (const [key, member] of Object.entries(one)) {
        const isCall = key === 'input' && String(one['type']).endsWith('tool_use');
        if (!OPAQUE.has(key) && !isCall) visit(member, [...path, key], key);
      }
    }
  };
  visit(value, [], '');
  const excess = found[MAX_REFERENCES];
  if (excess)
    throw refused(excess.path, `is more than the ${MAX_REFERENCES} assets of one request`);
  return found;
}

/** `image_url`, `fileUri`, `images`, `image[]`. */
export function isMediaName(name: string): boolean {
  const end = name.slice(-MAX_NAME_END);
  const last = /([A-Z]?[a-z]+|[A-Z]+)(?:\[\d*\]|\d*)$/.exec(end)?.[1]?.toLowerCase() ?? '';
  return MEDIA_WORDS.has(last) || (last.endsWith('s') && MEDIA_WORDS.has(last.slice(0, -1)));
}

function toReference(text: string, path: AssetReference['path']): AssetReference {
  const externalId = fromAssetUrl(text);
  if (externalId === undefined) throw refused(path, 'is no reference to an asset');
  return { path, externalId };
}

/** Makes the error for a request that names an asset. */
export function refused(path: AssetReference['path'], what: string): GatewayError {
  const param = toText(path);
  return new GatewayError('invalid_request', { message: `${param}: ${what}`, param });
}

/** `messages[0].content[1].image_url.url` */
function toText(path: AssetReference['path']): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { scanInSlices, scanJson } from '../../core/json/json-document.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { spliceJson } from '../../core/json/splice.ts';
import type { RequestAddress } from '../../protocols/protocol.ts';
import { REQUEST_MARKS } from '../../protocols/scan-request.ts';
import type { InferenceSurface } from '../../protocols/surface.ts';
import type { Model } from '../../routing/catalog.ts';
import { contentTasksSurface, videosSurface } from '../videos/video-task.ts';

/** A model call as the input of a run asks for it. */
export interface ModelCall {
  /** The endpoint whose body the input is. */
  readonly surface: InferenceSurface;
  readonly body: JsonDocument;
  readonly address: RequestAddress;
}

/** Members that the gateway sets itself, or that a run has no use for. */
const KEPT = ['model', 'stream'];

/**
 * The input is the body of the model's own endpoint but for `model`: of an llm that of the protocol
 * that its first provider speaks. Its bytes stay as they are, and are scanned in slices.
 *
 * @throws GatewayError `invalid_request` with `param`; `model_unavailable` for a type without endpoint
 */
export async function toModelCall(
  model: Model,
  input: Buffer,
  surfaces: readonly InferenceSurface[],
): Promise<ModelCall> {
  try {
    return await read(model, input, surfaces);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.param === undefined) throw thrown;
    throw thrown.with({ param: `input.${thrown.param}` });
  }
}

async function read(
  model: Model,
  input: Buffer,
  surfaces: readonly InferenceSurface[],
): Promise<ModelCall> {
  const marks = { marks: REQUEST_MARKS };
  const json = scanJson(await scanInSlices(input, marks), KEPT);
  if (json.find('model')) throw refuse('model', 'is named beside the input');
  if ((json.get('stream') ?? false) !== false)
    throw refuse('stream', 'must be false: a run has one result');
  const surface = surfaceOf(model, json, surfaces);
  const address = surface.addressOf?.(model.id);
  const name = { op: 'set', key: 'model', json: JSON.stringify(model.id) } as const;
  const body = address ? json : await scanInSlices(spliceJson(input, json.members, [name]), marks);
  if (surface.protocol.peek(body, address).background)
    throw refuse('background', 'must be false: the run itself goes on in the background');
  return { surface, body, address: address ?? {} };
}

function surfaceOf(
  { type, routes }: Model,
  input: JsonDocument,
  surfaces: readonly InferenceSurface[],
): InferenceSurface {
  if (type === 'video' && input.kindOf('content') === 'array') return contentTasksSurface;
  const spoken = routes[0]?.protocols;
  const translated = surfaces.filter(({ protocol }) => protocol.translations);
  const surface =
    type === 'llm'
      ? (translated.find(({ protocol }) => spoken?.has(protocol.id)) ?? translated[0])
      : [...surfaces, videosSurface].find(({ modelType }) => modelType === type);
  if (surface) return surface;
  const message = `models of the type ${type} cannot be run`;
  throw new GatewayError('model_unavailable', { message });
}

function refuse(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `\`input.${param}\` ${what}`, param });
}

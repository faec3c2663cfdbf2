import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { scanJson } from '../../core/json/json-document.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { spliceJson } from '../../core/json/splice.ts';
import type { RequestAddress } from '../../protocols/protocol.ts';
import type { Model, ModelType } from '../../routing/catalog.ts';
import { chatSurface } from '../../surfaces/chat.ts';
import { embeddingsSurface } from '../../surfaces/embeddings.ts';
import { generateContentSurface } from '../../surfaces/generate-content.ts';
import { imagesSurface } from '../../surfaces/images.ts';
import type { InferenceSurface } from '../../surfaces/inference-surface.ts';
import { messagesSurface } from '../../surfaces/messages.ts';
import { responsesSurface } from '../../surfaces/responses.ts';
import { contentTasksSurface, videosSurface } from '../videos/video-task.ts';

/** A model call as the input of a run asks for it. */
export interface ModelCall {
  /** The endpoint whose body the input is. */
  readonly surface: InferenceSurface;
  readonly body: Buffer;
  readonly address: RequestAddress;
}

/** Surfaces in order of preference, where a provider speaks several. */
const LLM_SURFACES = [chatSurface, responsesSurface, messagesSurface, generateContentSurface];
/** There is one endpoint for each of the other types. */
const SURFACES: Partial<Record<ModelType, InferenceSurface>> = {
  embedding: embeddingsSurface,
  image: imagesSurface,
  video: videosSurface,
};
/** Members that the gateway sets itself, or that a run has no use for. */
const KEPT = ['model', 'stream'];

/**
 * The input is the body of the model's own endpoint but for `model`: of an llm that of the protocol
 * that its first provider speaks. Its bytes stay as they are.
 *
 * @throws GatewayError `invalid_request` with `param`; `model_unavailable` for a type without endpoint
 */
export function toModelCall(model: Model, input: Buffer): ModelCall {
  try {
    return read(model, input);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.param === undefined) throw thrown;
    throw thrown.with({ param: `input.${thrown.param}` });
  }
}

function read(model: Model, input: Buffer): ModelCall {
  const json = scanJson(input, KEPT);
  if (json.find('model')) throw refuse('model', 'is named beside the input');
  if ((json.get('stream') ?? false) !== false)
    throw refuse('stream', 'must be false: a run has one result');
  const surface = surfaceOf(model, json);
  const isInPath = surface === generateContentSurface;
  const address = isInPath ? { model: model.id, operation: 'generateContent' } : {};
  const name = { op: 'set', key: 'model', json: JSON.stringify(model.id) } as const;
  const body = isInPath ? input : spliceJson(input, json.members, [name]);
  surface.protocol.peek(body, address);
  return { surface, body, address };
}

function surfaceOf({ type, routes }: Model, input: JsonDocument): InferenceSurface {
  if (type === 'video' && input.kindOf('content') === 'array') return contentTasksSurface;
  const spoken = routes[0]?.protocols;
  const native = LLM_SURFACES.find(({ protocol }) => spoken?.has(protocol.id));
  const surface = type === 'llm' ? (native ?? chatSurface) : SURFACES[type];
  if (surface) return surface;
  const message = `models of the type ${type} cannot be run`;
  throw new GatewayError('model_unavailable', { message });
}

function refuse(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `\`input.${param}\` ${what}`, param });
}

import type { CassetteReply } from '../tape/cassette.ts';
import type { JsonObject } from '../json.ts';
import type { MockError } from '../mock-error.ts';
import type { MockRequest } from '../mock-request.ts';
import type { Reply } from '../reply.ts';

/** Input of a renderer. */
export interface Rendering {
  request: MockRequest;
  reply: Reply;
  /** Reply of the cassette; empty for the default answer. */
  scripted: CassetteReply;
  /** 24 hexadecimal digits, the same for the same request; prefixes are the renderer's. */
  id: string;
  /** Seconds since epoch. */
  created: number;
  /** Member that holds reasoning, where the protocol has several. Default its usual one. */
  reasoningMember?: string | undefined;
}

/** One event of a stream. */
export interface Frame {
  /** `content` carries text, reasoning or a tool call; `last` is the one that says the stream is complete. */
  kind: 'open' | 'content' | 'close' | 'last';
  /** The SSE event name, where the protocol sends one. */
  event?: string;
  data: JsonObject | '[DONE]';
}

/** Puts a reply on the wire of one protocol. */
export interface Renderer {
  body(rendering: Rendering): JsonObject;
  error(error: MockError): JsonObject;
  /** Absent: the protocol has no streams. */
  stream?: {
    frames(rendering: Rendering): Frame[];
    /** The event of a failure in a stream after `position` events. */
    error(error: MockError, position: number): Frame;
  };
}

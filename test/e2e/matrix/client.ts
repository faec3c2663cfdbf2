import type { Protocol } from '../../../src/protocols/registry.ts';

/** Where a client library finds the gateway, and what it asks for there. */
export interface Target {
  readonly url: string;
  readonly key: string;
  /** The logical name. */
  readonly model: string;
}

/** What a conversation begins with, in no protocol's words. */
export interface Question {
  readonly text: string;
  /** A PNG in base64. */
  readonly imageData?: string;
  readonly imageUrl?: string;
  /** Offers {@link TOOL_NAMES}. */
  readonly tools?: boolean;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly stop?: readonly string[];
  readonly logprobs?: number;
  readonly thinks?: boolean;
}

export interface Result {
  readonly text: string;
  /** A PNG in base64. */
  readonly imageData?: string;
  readonly isError?: boolean;
}

export interface SaidCall {
  readonly id: string;
  readonly name: string;
  /** The text where the library shows it, else what it parsed. */
  readonly arguments: unknown;
}

/** An answer as the library's own accumulator gives it. */
export interface Said {
  readonly model: string;
  readonly text: string;
  readonly thought: string;
  readonly refusal?: string;
  readonly calls: readonly SaidCall[];
  /** The protocol's own word, with what it says beside it behind a colon. */
  readonly stop: string;
  readonly usage: unknown;
  readonly logprobs?: unknown;
  /** The protocol's own form of the pages that are cited. */
  readonly citations: readonly unknown[];
}

/** A conversation that the library's user keeps: every answer is sent back as the library gave it. */
export interface Dialogue {
  ask(stream: boolean): Promise<Said>;
  give(results: readonly Result[]): void;
  /** What follows is asked of another model. */
  moveTo(model: string): void;
}

export interface ClientRow {
  readonly id: Protocol;
  readonly library: string;
  /** Its requests can name texts to stop at. */
  readonly asksToStop: boolean;
  open(target: Target, question: Question): Dialogue;
  /** The events of a stream, one by one. */
  watch(target: Target, question: Question): Promise<AsyncIterable<unknown>>;
  /** A request without a library. */
  request(model: string, extra?: object): { path: string; body: object };
  /** A streamed one. */
  streamed(model: string): { path: string; body: object };
}

export const TOOL_NAMES = ['look', 'list'] as const;
export const TOOL_SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } } };

export function dataUrl(data: string): string {
  return `data:image/png;base64,${data}`;
}

import type { ChatMessage, ChatPart } from '../../client/chat.ts';

/** Messages between a person and a model, and what the next request is made of. */
export class Conversation {
  /** Name of the model that answers the next message. */
  model: string;
  /** Text of the system message; undefined: none. */
  system: string | undefined;
  readonly #messages: ChatMessage[] = [];
  #attached: ChatPart[] = [];

  constructor(model: string, system: string | undefined) {
    this.model = model;
    this.system = system;
  }

  /** Messages of people and models so far. */
  get length(): number {
    return this.#messages.length;
  }

  /** Keeps a part for the next message. */
  attach(part: ChatPart): void {
    this.#attached.push(part);
  }

  /** Appends the typed text after the attached parts; returns the messages to send. */
  ask(text: string): ChatMessage[] {
    const parts = this.#attached;
    const content = parts.length === 0 ? text : [...parts, { type: 'text' as const, text }];
    this.#messages.push({ role: 'user', content });
    this.#attached = [];
    if (this.system === undefined) return [...this.#messages];
    return [{ role: 'system', content: this.system }, ...this.#messages];
  }

  /** Adds what the model said, as far as it came. */
  answer(text: string): void {
    this.#messages.push({ role: 'assistant', content: text });
  }

  /** Takes the last question back, which had no answer; its parts go with the next one again. */
  takeBack(): void {
    const content = this.#messages.pop()?.content;
    if (Array.isArray(content)) this.#attached = content.slice(0, -1);
  }

  /** Forgets all messages and attached parts; model and system message stay. */
  clear(): void {
    this.#messages.length = 0;
    this.#attached = [];
  }
}

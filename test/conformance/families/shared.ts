import type { CarriedKey } from '../surface.ts';

/** `Authorization: Bearer`, the one carrier that every family reads. */
export function bearer(key: string): CarriedKey {
  return { headers: { authorization: `Bearer ${key}` } };
}

interface ChatError {
  error?: { message?: string };
}

/** The message of an error in the shape of the chat family: four members and nothing beside them. */
export function chatErrorMessage(body: unknown): string | undefined {
  const { error, ...rest } = body as ChatError;
  const names = Object.keys(error ?? {}).sort();
  if (names.join() !== 'code,message,param,type' || Object.keys(rest).length > 0) return undefined;
  return error?.message;
}

interface MessagesError {
  type?: string;
  error?: { type?: string; message?: string };
}

/** The message of an error in the shape of the Messages family. */
export function messagesErrorMessage(body: unknown): string | undefined {
  const { type, error } = body as MessagesError;
  return type === 'error' && error?.type ? error.message : undefined;
}

interface GoogleError {
  error?: { code?: number; message?: string; status?: string };
}

/** The message of an error in the shape of generate-content and Interactions. */
export function googleErrorMessage(body: unknown): string | undefined {
  const { error, ...rest } = body as GoogleError;
  const names = Object.keys(error ?? {}).sort();
  if (names.join() !== 'code,message,status' || Object.keys(rest).length > 0) return undefined;
  return error?.message;
}

/** The message of an error that is nothing but its text. */
export function flatErrorMessage(body: unknown): string | undefined {
  const { error, ...rest } = body as { error?: unknown };
  return typeof error === 'string' && Object.keys(rest).length === 0 ? error : undefined;
}

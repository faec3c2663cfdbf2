/** The same bytes; an error of the body is what `toError` makes of it. */
export function withErrors(
  body: ReadableStream<Uint8Array>,
  toError: (thrown: unknown) => Error,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (thrown) {
        controller.error(toError(thrown));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

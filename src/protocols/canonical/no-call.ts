/** True for what servers that write every member always have in place of a call: no name, no arguments. */
export function isNoCall(name: string, text: string): boolean {
  return name === '' && /^[\s{}]*$/.test(text);
}

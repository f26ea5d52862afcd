/** A method of a class, to be called from what stands in for it in a test (`.call`, `.apply`). */
export function methodOf<Class extends object, Name extends keyof Class>(prototype: Class, name: Name): Class[Name] {
  return prototype[name];
}

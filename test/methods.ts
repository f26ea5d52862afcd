/** A method of a class, for calling the original from a mock (`.call`, `.apply`). */
export function methodOf<Class extends object, Name extends keyof Class>(prototype: Class, name: Name): Class[Name] {
  return prototype[name];
}

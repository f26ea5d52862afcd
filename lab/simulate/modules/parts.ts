/** A part of an object: a method, which keeps its object, or a property. */
// biome-ignore lint/suspicious/noExplicitAny: parts of any object
type Part = any;

/** The same object with others in place of some of its parts: each is made from the one that it replaces. */
export function withParts<T extends object>(of: T, parts: Readonly<Record<string, (real: Part) => Part>>): T {
  return new Proxy(of, {
    get: (target, name): Part => {
      const found: unknown = Reflect.get(target, name);
      const real: unknown = typeof found === 'function' ? found.bind(target) : found;
      return typeof name === 'string' && Object.hasOwn(parts, name) ? parts[name]!(real) : real;
    },
  });
}

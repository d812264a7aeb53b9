/** The same object with these members in the place of its own; those that are left know nothing of it. */
export function overriding<T extends object>(target: T, members: Partial<T>): T {
  const bound = new Map<PropertyKey, unknown>();
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(members, name)) return members[name as keyof T];
      if (bound.has(name)) return bound.get(name);
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function') return member;
      const method = member.bind(target) as unknown;
      bound.set(name, method);
      return method;
    },
  });
}

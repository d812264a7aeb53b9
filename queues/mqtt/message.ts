const NAME = /^[a-z0-9]+$/;

/**
 * Attributes of a CloudEvent in binary mode: user properties by the same names, and a message in that mode
 * has `specversion`. Of a property that stands there twice the first counts; what can be no attribute is
 * passed over.
 */
export function attributesOf(properties: Record<string, string | string[]>): Record<string, string> {
  if (!Object.hasOwn(properties, 'specversion')) return {};
  const found = Object.entries(properties).filter(([name]) => NAME.test(name));
  return Object.fromEntries(
    found.map(([name, value]) => [name, typeof value === 'string' ? value : (value[0] ?? '')]),
  );
}

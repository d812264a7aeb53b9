/** Bytes of a number of variable length, seven bits each. */
function lengthBytes(length: number): number {
  if (length < 128) return 1;
  if (length < 16_384) return 2;
  return length < 2_097_152 ? 3 : 4;
}

/** A text stands behind its length in two bytes. */
const textBytes = (text: string): number => 2 + Buffer.byteLength(text);

/** Bytes of a PUBLISH packet of MQTT 5 with QoS 1 or 2. */
export function packetBytes(
  topic: string,
  bodyBytes: number,
  { contentType, userProperties }: { contentType?: string; userProperties: Record<string, string> },
): number {
  let properties = contentType === undefined ? 0 : 1 + textBytes(contentType);
  for (const [name, value] of Object.entries(userProperties))
    properties += 1 + textBytes(name) + textBytes(value);
  const rest = textBytes(topic) + 2 + lengthBytes(properties) + properties + bodyBytes;
  return 1 + lengthBytes(rest) + rest;
}

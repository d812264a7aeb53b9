import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { xmlAttributes, xmlText } from '../../../src/reports/xml.js';

const parser = new XMLParser({
  ignoreAttributes: false,
  trimValues: false,
  parseTagValue: false,
  attributeNamePrefix: '@',
  htmlEntities: true,
});

describe('xml', () => {
  it('strips what XML cannot carry and keeps the rest', () => {
    expect(xmlText('a\u0000\u001b[1m\ud800b\ufffe😀\t\n')).toBe('a[1mb😀\t\n');
    expect(xmlText(']]><a>&')).toBe(']]&gt;&lt;a&gt;&amp;');
    expect(xmlAttributes({ a: 'x"<&>\n\t', n: 5 })).toBe(' a="x&quot;&lt;&amp;&gt;&#10;&#9;" n="5"');
  });

  it('gives well-formed XML that reads back, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const xml = `<r${xmlAttributes({ a: text })}>${xmlText(text)}</r>`;
        expect(XMLValidator.validate(xml)).toBe(true);
        expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
      }),
    );
  });

  it('reads back as what it was', () => {
    const parsed: unknown = parser.parse(`<r${xmlAttributes({ a: '<"&>' })}>${xmlText('<b>&amp;</b>')}</r>`);
    expect(parsed).toEqual({ r: { '@a': '<"&>', '#text': '<b>&amp;</b>' } });
  });
});

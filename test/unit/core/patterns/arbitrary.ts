import fc from 'fast-check';

/** Characters that case folding, line ends and UTF-16 make hard; repeated ones are likelier. */
const HARD = [
  ...'aabbkkssKS019_ -x',
  '\n',
  '\n',
  '\r',
  '\t',
  '\u000b',
  '\u0085',
  '\u00a0',
  '\u2028',
  '\u017f',
  '\u212a',
  '\u00df',
  '\u1e9e',
  '\u0130',
  '\u0131',
  '\u00e9',
  '\u00c9',
  '\u03c3',
  '\u03c2',
  '\u03a3',
  '\u1e9b',
  '\u0436',
  '\u{1f600}',
  '\u{10428}',
  '\u{10400}',
  '\ud83d',
  '\ude00',
  '中',
];

export const hardText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...HARD), { maxLength: 14 })
  .map((chars) => chars.join(''));

const literal = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...'abksKSx0_- ') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('é', 'ß', 'ſ', '\u212a', 'İ', 'ı', 'Σ', 'ж', '\u{1f600}', '\u{10428}', '中'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '\\.',
      '\\n',
      '\\t',
      '\\x{17f}',
      '\\x6b',
      '\\x{1F600}',
      '\\_',
      '\\-',
      '\\/',
      '{',
      ']',
      '}',
      '\\101',
      '\\v',
      '\\r',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('\\Qa.b\\E', '\\Q\\E', '\\x{d83d}', '\\x{de00}', '{,3}', 'a{x') },
);

const member = fc.constantFrom(
  ...[
    'a',
    'b',
    'k',
    's',
    'a-k',
    'P-T',
    '0-9',
    '_',
    '\\d',
    '\\w',
    '\\s',
    '\\W',
    '\\D',
    '\\S',
    '\\n',
    '.',
    '\\-',
  ],
  ...[
    '[:alpha:]',
    '[:^space:]',
    '\\pL',
    '\\p{Greek}',
    'é',
    '\\x{17f}',
    '\\x{0}-\\x{2030}',
    '😀',
    '\\]',
    '\\x{d800}-\\x{dbff}',
  ],
);

const charClass = fc
  .tuple(fc.boolean(), fc.array(member, { minLength: 1, maxLength: 3 }))
  .map(([negated, members]) => `[${negated ? '^' : ''}${members.join('')}]`);

const single = fc.oneof(
  { weight: 6, arbitrary: literal },
  { weight: 2, arbitrary: charClass },
  { weight: 2, arbitrary: fc.constantFrom('.', '\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\pL', '\\PL') },
);

const assertion = fc.constantFrom('^', '$', '\\b', '\\B', '\\A', '\\z');
const quantifier = fc
  .tuple(
    fc.constantFrom('*', '+', '?', '{0,1}', '{2}', '{1,2}', '{0,3}', '{2,}', '{0}', '{1,}'),
    fc.constantFrom('', '?'),
  )
  .map(([count, lazy]) => count + lazy);
const opening = fc.constantFrom(
  '(',
  '(?:',
  '(?i:',
  '(?-i:',
  '(?s:',
  '(?-m:',
  '(?U:',
  '(?P<n>',
  '(?<n>',
  '(?i-s:',
);

/** Patterns of RE2's syntax over the whole of what is translated, and a little more. */
export const pattern: fc.Arbitrary<string> = fc.letrec<{
  alternatives: string;
  sequence: string;
  piece: string;
}>((tie) => ({
  alternatives: fc
    .array(tie('sequence'), { minLength: 1, maxLength: 3, depthIdentifier: 'pattern' })
    .map((branches) => branches.join('|')),
  sequence: fc
    .array(tie('piece'), { maxLength: 4, depthIdentifier: 'pattern' })
    .map((pieces) => pieces.join('')),
  piece: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'pattern' },
    { weight: 6, arbitrary: single },
    { weight: 4, arbitrary: fc.tuple(single, quantifier).map((parts) => parts.join('')) },
    { weight: 2, arbitrary: assertion },
    { weight: 1, arbitrary: fc.constantFrom('(?i)', '(?-i)', '(?s)', '(?U)', '(?m)', '(?-m)') },
    {
      weight: 4,
      arbitrary: fc
        .tuple(opening, tie('alternatives'), fc.oneof(fc.constant(''), quantifier))
        .map(([open, body, count]) => `${open}${body})${count}`),
    },
  ),
})).alternatives;

/** Patterns that cannot match nothing: most of them have a native form. */
export const consumingPattern: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(pattern, single).map(([rest, first]) => `(?:${rest})${first}`),
  fc.tuple(single, pattern).map(([first, rest]) => `${first}(?:${rest})`),
);

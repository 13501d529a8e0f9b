// The one tool that all ways to it are measured with: it says what it was told.
export const tools = [
  {
    name: 'echo',
    description: 'Says what it was told.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
    effect: 'read', // nobody is asked
    run: ({ text }) => text,
  },
];

export default { generateBuildId: () => 'row', redirects: () => [{ source: '/away', destination: '/fixed', permanent: false }], typescript: { ignoreBuildErrors: true } }

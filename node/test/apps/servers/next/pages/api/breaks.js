export default function breaks () { throw new Error('broken on purpose') }

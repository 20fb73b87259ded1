export default function Old ({ at }) { return <p>old {at}</p> }
export function getServerSideProps ({ req, res }) { res.setHeader('x-props', 'yes'); return { props: { at: req.url } } }

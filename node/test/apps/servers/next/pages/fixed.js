export default function Fixed () { return <p>fixed</p> }

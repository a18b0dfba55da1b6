//! Published vocabularies: enums whose values have a wire name, a label and, where the document gives one, a colour.

/// An enum whose values have a wire name, a label for people, and a colour (empty where the enum has none).
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $wire:literal, $label:literal, $color:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum $name { $($variant),+ }

        impl $name {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The value on the wire.
            pub(crate) fn wire(self) -> &'static str {
                match self { $(Self::$variant => $wire),+ }
            }

            /// The label for people.
            pub(crate) fn label(self) -> &'static str {
                match self { $(Self::$variant => $label),+ }
            }

            /// The colour as `#RRGGBB`; empty where this enum has none.
            pub(crate) fn color(self) -> &'static str {
                match self { $(Self::$variant => $color),+ }
            }

            pub(crate) fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.wire() == text)
            }

            /// This value's bit in a set of values.
            pub(crate) fn bit(self) -> u32 {
                1 << self as u8
            }
        }

        impl Word for $name {
            fn wire(self) -> &'static str { self.wire() }
            fn label(self) -> &'static str { self.label() }
            fn color(self) -> &'static str { self.color() }
            fn bit(self) -> u32 { self.bit() }
            fn parse(text: &str) -> Option<Self> { Self::parse(text) }
        }
    };
}
pub(crate) use vocabulary;

/// The common interface of vocabularies, for the routes that publish them and the filters that read them.
pub(crate) trait Word: Copy + 'static {
    fn wire(self) -> &'static str;
    fn label(self) -> &'static str;
    fn color(self) -> &'static str;
    fn bit(self) -> u32;
    fn parse(text: &str) -> Option<Self>;
}

//! Ids: indices into the lists of a [`Policy`](super::Policy), one type per kind so that they cannot be mixed up.

macro_rules! id {
    ($($name:ident $what:literal;)*) => {$(
        #[doc = concat!("The index of a ", $what, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u16);

        impl $name {
            /// As an index.
            pub fn index(self) -> usize {
                usize::from(self.0)
            }
        }
    )*};
}

id! {
    ProviderId "provider";
    ModelId "model";
    TargetId "target";
    ContractId "contract";
    TierId "tier";
    MatrixId "matrix";
    BudgetId "budget";
    RouteId "route";
}
